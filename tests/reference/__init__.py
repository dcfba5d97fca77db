"""Slow, literal transcription of the published frame algorithm: the oracle for the fast code.

One file per step of Mamonov, Figueiredo, Figueiredo, Tsai, "Automated polyp detection in colon
capsule endoscopy". float64 NumPy, written for reading, and independent of the package under test.
"""
