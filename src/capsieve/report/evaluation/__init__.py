"""An evaluation as files: numbers, tables, figures, pictures and a page."""
