"""python -m aisampler: the command."""

from __future__ import annotations

import os
import sys

from ._library import find_command
from ._stan import find_stanli


def main() -> None:
    command, stanli = find_command(), find_stanli()
    if stanli:
        os.environ["AISAMPLER_STANLI"] = stanli
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
