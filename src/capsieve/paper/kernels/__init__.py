"""Compiled loops. The formulas are in the step modules; here is only their fast form.

No kernel is compiled with fastmath, so no sum is reordered and results do not depend on when the
code was compiled. The loops still run in vectors because columns are unsigned (numba then does not
check for negative indices), the taps of a filter are a tuple (its length is known, so the sum is
unrolled) and tables are global constants (they cannot alias the output).

elementary, pixels, vignetting, components, ball
"""
