#!/usr/bin/env bash
# Calls that fail: one allocation, write, fsync, rename, open, thread and process of every subcommand, and every write of a
# run (EIO, also while HDF5 closes its file, which was a segmentation fault), every read of draws (where the sampler's name
# was lost without a word). bench/faults/inject.py does them all.
# Argument: the build folder.
set -eu
[ "$(uname -m)" = x86_64 ] || { echo "calls of the system are trapped on x86-64 only"; exit 77; }
python3 bench/faults/inject.py "$1" --brief -j 2
python3 bench/faults/inject.py "$1" --only "sample rwm" --kinds write --error 5 -j 2
python3 bench/faults/inject.py "$1" --only "diagnose, no page" --kinds read -j 2
