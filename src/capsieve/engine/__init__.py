"""Screening whole exams: what there is to do, who does it, what comes out."""
