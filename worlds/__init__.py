"""Rule sets: worlds of bodies on a grid and worlds of dialogue, behind the contracts of `api`."""
