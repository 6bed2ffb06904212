#!/bin/bash
# The benchmarks beside nautilus and on posteriordb: what they count, compare, keep and print.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../support/venv.sh" "$build" python-all)
AIS_BUILD=$build exec "$python" "$here/../support/benchmarks.py"
