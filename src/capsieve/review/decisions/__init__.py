"""What readers said: an append-only log, and what it adds up to."""
