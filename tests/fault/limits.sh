#!/usr/bin/env bash
# Full disks, folders that go away, limits, clocks that jump: two of every kind of what bench/faults/limits.py does. Killed
# ranks are in cli/ranks. Argument: the build folder.
set -eu
[ "$(uname -m)" = x86_64 ] || { echo "calls of the system are trapped on x86-64 only"; exit 77; }
for part in limits clocks small_disk spoiled_folders; do
    python3 bench/faults/limits.py "$1" --most 2 --only $part
done
