"""MA-Crafter: a team gathers, builds and survives on a large map."""
