"""The manual that agents of CUBE are given: rules, verbs and concepts in a few thousand letters."""

from functools import lru_cache

from worlds.cube.concepts import SUMMARIES
from worlds.cube.config import CubeConfig

__all__ = ["manual"]

_COMMON = """CUBE (cube-v1), rules {rules}.
Goal: bring every block to the goal column, the last column of the board, within {max_steps} \
steps. A block of weight w is a square of w x w cells. It is delivered, and gone, as soon as one \
of its cells lies in the goal column; the team then scores w.
Team: {agents} agents, agent_0 to agent_{last}. All agents see the whole board.
Cells are (row, column), (0,0) top left; up lowers the row, right raises the column.
Step: everybody chooses one action: stay, up, down, left or right, and all are played together, \
pushes first (those up, then down, left, right), then walks. An agent moves at most one cell a \
step, and so does a block.
Walking: a cell is entered only if nobody and nothing stood on it after the pushes, not even an \
agent about to leave. Of several agents that want one cell the smallest id enters.
Faces: the left face of a block is the column of cells to its left; whoever stands there and acts \
right pushes it right. Likewise right pushes left, up pushes down, down pushes up. A face of a \
block of weight w has w contact cells. Nothing can be pulled.
"""

_RULES = {
    "quorum": """Pushing: a block of weight w moves one cell when all w contact cells of one face \
hold an agent and all w of them push in the same step. One agent less, or one that waits, and \
nothing moves. A second row of agents adds nothing.
Nothing but free cells may lie where the block would move: a wall, another block or an agent stops \
it. Agents that push move along with the block.
The goal column is closed to walkers.
Advice: gather on the face first (navigate, then rendezvous), then push together; blocks nearest \
to the goal first, since a block ahead in the same rows is in the way.
""",
    "chain": """Pushing: every agent exerts force 1. Agents in one straight line behind a contact \
cell, all acting towards the block, add their force; a gap or an agent that does not push ends the \
line. A block moves one cell when the lines behind its face exert at least its weight and that of \
every block it must push along; blocks push blocks. All that is pushed moves at once, and so do \
the agents in the lines.
A wall ahead of any of these blocks stops them, and so does any agent in front of one. Two pushes \
that merely share a block in front do not add up.
The goal column can be entered, but whoever stands there is in the way of deliveries in that row.
Advice: gather behind one face (navigate, then rendezvous), then push together; blocks nearest to \
the goal first.
""",
}

_WORDS = """View: "left 2/3 at" means that 2 of the 3 contact cells of that face hold an agent. \
After a joint push it says how many agents that needed and how many pushed from the face \
(participation), stood on it (spatial), pushed or tried to (temporal). In the map a letter is a \
block (A is block_0), a digit an agent, | the goal column.
Tasks are named block_<id>_<face>, as block_3_left; the left face leads to the goal. \
A verb names a block as block_3 or 3.
Verbs (default in brackets):
- move direction, steps 1-10 (1): act that way, whatever stands there; into a block it is a push.
- wait steps 1-50 (1).
- navigate block, face (left), cell (any contact cell), timeout 1-100 (30): walk round blocks and \
agents to the face.
- push block, steps 1-20 (1), face (the one you stand on, else left): done if the block moved with \
you at least once, or is delivered.
- rendezvous block, face (left), count (the weight, at most the team), timeout 1-100 (30): stay \
until that many agents are in place; all who wait there go on in the same step.
- yield block, steps 1-10 (2): walk until that many free cells lie between you and the block.
A verb that cannot go on fails with a reason; the rest of the plan is dropped and you decide again.
Concepts:
"""


@lru_cache(maxsize=16)
def manual(config: CubeConfig) -> str:
    """Rules, verbs and concepts for worlds of these settings."""
    agents = config.agent_count
    facts = {
        "rules": config.rules,
        "max_steps": config.max_steps,
        "agents": agents,
        "last": agents - 1,
    }
    concepts = "\n".join(f"- {name}: {summary}." for name, summary in SUMMARIES.items())
    return _COMMON.format(**facts) + _RULES[config.rules] + _WORDS + concepts
