#!/bin/bash
# Our diagnostics against ArviZ on the same draws: every number to 1e-6, odd cases included.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../support/venv.sh" "$build" arviz)
exec "$python" -W ignore "$here/../support/arviz_diagnostics.py" "$build/tests/diagnostics_probe"
