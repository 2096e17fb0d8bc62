"""Model endpoints behind one method, and their doubles."""
