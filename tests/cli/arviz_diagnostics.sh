#!/bin/bash
# Our diagnostics against ArviZ on the same draws: every number to 1e-6, odd cases included.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# Before 0.21 the ESS and MCSE of the sd had another definition; 1.0 and later have another interface.
python=$("$here/../support/venv.sh" "$build" arviz "arviz>=0.21,<1.0" numpy netcdf4)
exec "$python" -W ignore "$here/../support/arviz_diagnostics.py" "$build/tests/diagnostics_probe"
