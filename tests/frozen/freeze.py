"""Store the present results of named parts: see test_frozen.py."""

import argparse
import tempfile
from pathlib import Path

from frozen import stored
from frozen.parts import PARTS, Runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all"], metavar="PART")
    chosen = parser.parse_args().parts
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(Path(folder))
        for part in PARTS if "all" in chosen else chosen:
            stored.save(part, PARTS[part](runs))
            print(f"stored {part}")


if __name__ == "__main__":
    main()
