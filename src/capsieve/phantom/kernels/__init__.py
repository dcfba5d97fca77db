"""The compiled loops of the synthetic colon.

numba notices a change of the file that it compiled, and of no other: so a loop here calls only
loops of its own file.
"""
