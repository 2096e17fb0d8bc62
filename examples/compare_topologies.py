"""Play two topologies on three seeds, load the runs into a frame, and look at the means.

python examples/compare_topologies.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import polars

from lab.config import resolve
from lab.records import canonical
from lab.run import execute
from lab.tables import load

# %% play: a run folder for each topology and seed
folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
for topology in ("individual", "centralized"):
    for seed in range(3):
        config = resolve(
            {"world": "cube-v1:quorum", "topology": topology, "seed": seed, "budget": {"steps": 60}}
        )
        execute(canonical(config), folder / f"{topology}-{seed}")

# %% a row a run, every metric a column
runs = load([folder])
print(runs.select("topology", "seed", "score", "steps", "messages", "decision_s"))

# %% means by topology
print(
    runs.group_by("topology", maintain_order=True)
    .agg(polars.col("score", "messages", "decision_s").mean())
    .sort("topology")
)
