"""Topologies: who plans when, who speaks to whom, who leads."""

from cognitive.topologies.base import Structure
from cognitive.topologies.make import TOPOLOGIES, canonical_kind, make_topology

__all__ = ["TOPOLOGIES", "Structure", "canonical_kind", "make_topology"]
