#!/usr/bin/env bash
# Our files are read by ArviZ and by CmdStan's stansummary and diagnose (from the wheel of prophet),
# and theirs by us, with the same numbers. Argument: the build folder.
set -eu
build=$1
support=$(cd "$(dirname "$0")/../support" && pwd)
python=$(bash "$support/venv.sh" "$build" arviz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$support/read_by_others.py" "$build/tests/draws_probe" "$work"
