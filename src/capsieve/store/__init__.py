"""What is kept of a screened exam: tables, its record, and the work not yet finished."""
