"""Each row of the table of concepts, on drawn worlds."""

import pytest
from drawn import act, drawn

from primitives.navigation import UNREACHABLE
from worlds.cube import concepts
from worlds.cube.board import board_of
from worlds.errors import ConfigError

TEXT = """
.....B..|
.0AA..C.|
.1AA....|
......2.|
"""


def board(text=TEXT, rules="quorum"):
    state, config = drawn(text, rules)
    return board_of(state, config.rules)


def test_get_block():
    facts = concepts.get_block(board(), 0)
    assert facts == (2, ((1, 2), (1, 3), (2, 2), (2, 3)), (1, 2), False)


def test_get_block_once_delivered():
    state, config = drawn("..0A|\n1...|\n.B..|")
    act(state, config, {0: "right"})
    delivered = board_of(state, config.rules)
    assert concepts.get_block(delivered, 0) == (1, (), None, True)
    assert concepts.delivered(delivered, 0) and not concepts.delivered(delivered, 1)
    assert concepts.block_progress(delivered, 0) == 0
    assert concepts.face_cells(delivered, 0, "left") == ()
    assert not concepts.face_blocked(delivered, 0, "left")


@pytest.mark.parametrize(
    ("x", "y", "steps"),
    [
        ("agent_0", "block_0", 1),
        ("block_0", "agent_2", 4),
        ("block_0", "block_1", 3),
        ("block_0", "goal", 5),
        ("agent_2", "goal", 2),
        ((0, 0), "block_0", 3),
        ((0, 0), (3, 5), 8),
        ("block_0", "block_0", 0),
        ((1, 2), "block_0", 0),
    ],
)
def test_distance(x, y, steps):
    here = board()
    assert concepts.distance(here, x, y) == concepts.distance(here, y, x) == steps


@pytest.mark.parametrize("place", ["agent_3", "block_9", "door", "block_", "agent_-1"])
def test_distance_to_nowhere(place):
    with pytest.raises(ConfigError, match=place):
        concepts.distance(board(), place, "goal")


def test_block_progress():
    assert [concepts.block_progress(board(), block) for block in range(3)] == [5, 3, 2]


def test_face_cells():
    here = board()
    assert concepts.face_cells(here, 0, "left") == ((1, 1), (2, 1))
    assert concepts.face_cells(here, 0, "right") == ((1, 4), (2, 4))
    assert concepts.face_cells(here, 0, "up") == ((0, 2), (0, 3))
    assert concepts.face_cells(here, 0, "down") == ((3, 2), (3, 3))
    assert concepts.face_cells(here, 1, "up") == ()


def test_free_face_cells():
    here = board("..B...|\n.0AA..|\n..AA..|\n......|")
    assert concepts.free_face_cells(here, 0, "left") == ((2, 1),)
    assert concepts.free_face_cells(here, 0, "up") == ((0, 3),)


def test_is_aligned_and_aligned_agents():
    text = "201AA..|\n...AA..|\n3..BB..|\n...BB..|"
    quorum, chain = board(text), board(text, "chain")
    assert concepts.aligned_agents(quorum, 0, "left") == (1,)
    assert concepts.aligned_agents(chain, 0, "left") == (0, 1, 2)
    assert concepts.is_aligned(chain, 2, 0, "left") and not concepts.is_aligned(
        quorum, 2, 0, "left"
    )
    assert concepts.aligned_agents(chain, 1, "left") == ()


def test_an_agent_behind_an_empty_contact_cell_is_not_aligned():
    assert concepts.aligned_agents(board("01.A..|", "chain"), 0, "left") == ()


def test_aligned_positions():
    text = "......|\n..AA..|\n..AA..|\n....0.|"
    assert concepts.aligned_positions(board(text), 0, "left") == ((1, 1), (2, 1))
    assert concepts.aligned_positions(board(text, "chain"), 0, "left") == (
        (1, 1), (2, 1), (1, 0), (2, 0),
    )  # fmt: skip
    stopped = board("......|\nB.AA..|\n..AA..|\n0.....|", "chain")
    assert concepts.aligned_positions(stopped, 0, "left") == ((1, 1), (2, 1), (2, 0))


def test_aligned_positions_stop_after_ten_behind():
    line = board("0" + "." * 13 + "A..|", "chain")
    found = concepts.aligned_positions(line, 0, "left")
    assert (len(found), found[0], found[-1]) == (11, (0, 13), (0, 3))


def test_aligned_positions_are_sorted_by_distance_to_the_centre():
    tall = board("......|\n.AAA..|\n.AAA..|\n.AAA..|\n0.....|")
    assert concepts.aligned_positions(tall, 0, "left") == ((2, 0), (1, 0), (3, 0))


def test_quorum_status_and_deficit():
    here = board("0AA...|\n1AA...|\n..BB..|\n2.BB..|")
    assert concepts.quorum_status(here, 0, "left") and concepts.quorum_deficit(here, 0, "left") == 0
    assert not concepts.quorum_status(here, 1, "left")
    assert concepts.quorum_deficit(here, 1, "left") == 2


def test_quorum_of_a_train_is_its_whole_weight():
    here = board("210ABB..|\n....BB..|", "chain")
    assert concepts.need(here, 0, "left") == 3 and concepts.quorum_status(here, 0, "left")
    assert concepts.quorum_deficit(board("10ABB..|\n...BB..|", "chain"), 0, "left") == 1


def test_blocked():
    here = board("..AB1.|\n..C...|\n0.....|")
    assert concepts.blocked(here, 0, "left") == ("block",)
    assert concepts.blocked(here, 1, "left") == ("agent",)
    assert concepts.blocked(here, 0, "down") == ("wall",)
    assert concepts.blocked(here, 2, "left") == ()
    train = board("..AB1.|\n..C...|\n0.....|", "chain")
    assert concepts.blocked(train, 0, "left") == ("agent",)


def test_face_blocked():
    here = board("AB....|\n......|\n..0...|")
    assert concepts.face_blocked(here, 0, "left") and concepts.face_blocked(here, 1, "left")
    assert concepts.face_blocked(here, 0, "up") and not concepts.face_blocked(here, 0, "down")


def test_push_direction():
    here = board("..0...|\n.3A1..|\n..2...|\n......|")
    found = [concepts.push_direction_of(here, agent, 0) for agent in range(4)]
    assert found == ["down", "left", "up", "right"]
    assert concepts.push_direction_of(board("0..A.|"), 0, 0) == "right"


def test_path_clear_and_ahead():
    here = board()
    assert concepts.ahead(here, 0) == (2,) and not concepts.path_clear(here, 0)
    assert concepts.path_clear(here, 1) and concepts.path_clear(here, 2)


def test_closest_free_cell():
    here = board("0.....|\n.AAA..|\n.AAA..|\n.AAA..|\n....1.|")
    cells = ((0, 0), (4, 4), (4, 5), (4, 0), (2, 2))
    assert concepts.closest_free_cell(here, 0, cells) == (4, 0)
    assert concepts.closest_free_cell(here, 0, ((0, 1), (1, 0))) == (0, 1)
    assert concepts.closest_free_cell(here, 0, ((2, 2),)) is None


def test_path_length_ignores_agents_and_goes_round_blocks():
    here = board("01A...|\n......|")
    assert concepts.path_length(here, 0, ((0, 3),)) == 5
    shut = board("0AA..|\n.AA..|")
    assert concepts.path_length(shut, 0, ((0, 3),)) == UNREACHABLE
