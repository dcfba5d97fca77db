"""Statistics: pure functions on arrays, and the types of their results."""
