"""Compiled grid kernels, the random streams and the root of the error tree."""
