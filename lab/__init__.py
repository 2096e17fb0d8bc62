"""The front door: runs, sweeps, tables and the command line."""
