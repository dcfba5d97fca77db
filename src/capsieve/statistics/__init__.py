"""How good a sieve is, how sure that is, and how much reading it saves."""
