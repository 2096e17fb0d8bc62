"""CUBE: teams push heavy blocks into a goal column."""
