#!/usr/bin/env bash
# Fails on an include that points against the flow: a file may include only its own layer and those
# before it; the sampler never includes the trainer; the command includes public headers only.
set -u
cd "$(dirname "$0")/.."
python3 - "$@" <<'PYTHON'
import pathlib, re, sys

ORDER = "base simd nn map draws target diagnostics kernel classical learned file bench checkpoint look explore judge fit trainer anice sampler report run".split()
APART = {"sampler": {"look", "explore", "judge", "fit", "trainer", "anice"}}
root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
wrong = []
for path in sorted(root.glob("src/*/*.[ch]")):
    own = path.parent.name
    if own not in ORDER:
        wrong.append(f"{path}: layer {own} is not in the list")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*"(?:([a-z]+)/)?', line)
        layer = found and found.group(1)
        if not found:
            continue
        if layer is None:
            wrong.append(f"{path}:{number}: internal includes are written \"layer/file.h\"")
        elif layer not in ORDER or ORDER.index(layer) > ORDER.index(own) or layer in APART.get(own, ()):
            wrong.append(f"{path}:{number}: {own} must not include {layer}")
for path in sorted(root.glob("cli/**/*.[ch]")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*"([^"]*)"', line)
        if found and not (root / "cli" / found.group(1)).exists():
            wrong.append(f"{path}:{number}: the command includes its own and public headers only")
print("\n".join(wrong) if wrong else "layers: every include follows the flow")
sys.exit(bool(wrong))
PYTHON
