"""Whoever answers a question: a model, a script, a person, a recording, a resource."""
