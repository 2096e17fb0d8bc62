"""Pictures of recorded and running episodes."""
