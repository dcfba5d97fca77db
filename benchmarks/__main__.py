"""Run every subject, or those that are named: ``python -m benchmarks frame startup``."""

import sys
from importlib import import_module

SUBJECTS = {
    "agreement": "agreement with independent implementations",
    "evaluation": "a large study, judged",
    "frame": "one frame, one thread",
    "learned": "the learned detector beside the paper's, one thread",
    "phantom": "the synthetic colon",
    "robustness": "one frame, many settings",
    "screening": "a whole exam",
    "startup": "time to start",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SUBJECTS]
    if unknown:
        print(f"no subject {unknown[0]!r}; there are {', '.join(SUBJECTS)}", file=sys.stderr)
        return 2
    for name in names or SUBJECTS:
        print(f"\n{SUBJECTS[name]}\n")
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
