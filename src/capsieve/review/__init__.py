"""The reading room: a page in which an exam is read, decided and signed."""
