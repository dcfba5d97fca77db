"""CPU time of starting: `import capsieve` and `capsieve --help`."""

import os
import subprocess
import sys
from statistics import median

REPEATS = 15
COMMANDS = {
    "python, doing nothing": ["-c", "pass"],
    "import capsieve": ["-c", "import capsieve"],
    "capsieve --help": ["-m", "capsieve", "--help"],
    "import NumPy, for comparison": ["-c", "import numpy"],
}


def main() -> None:
    print(f"{'':<32}{'CPU seconds':>14}")
    for name, arguments in COMMANDS.items():
        times = [cpu_seconds([sys.executable, *arguments]) for _ in range(REPEATS)]
        print(f"{name:<32}{median(times):14.3f}")


def cpu_seconds(command: list[str]) -> float:
    """Return user and system time of a process, its children included."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
