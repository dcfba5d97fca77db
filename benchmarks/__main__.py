"""Run all benchmarks, or those that are named: ``python -m benchmarks frame screening``."""

import sys
from importlib import import_module

SUBJECTS = {
    "frame": "one frame, one thread",
    "learned": "the learned detector against the paper's, one thread",
    "phantom": "rendering of synthetic exams",
    "screening": "a whole exam",
    "evaluation": "evaluation of a large study",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SUBJECTS]
    if unknown:
        print(f"unknown subject {unknown[0]!r}; choose from {', '.join(SUBJECTS)}", file=sys.stderr)
        return 2
    for name in names or SUBJECTS:
        print(f"\n{SUBJECTS[name]}\n")
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
