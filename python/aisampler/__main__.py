"""python -m aisampler: the command."""

from __future__ import annotations

import os
import sys

from ._library import find_command


def main() -> None:
    command = find_command()
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
