"""Prompts: one template file a decision kind and a section, and the code that fills them."""
