#!/usr/bin/env python3
"""Fails on an include, or a call, that points against the flow.

A file includes only its own layer and those before it, whether it names a header of src/ or a public one, which belongs
to the first layer that implements some of it; the sampler includes nothing that learns; the command includes its own
headers and public ones.

    scripts/layers.py [ROOT]              looks at the sources in ROOT, the present folder when none is given
    scripts/layers.py --objects BUILD     looks at the object files of a build instead: what a layer calls, it or a
                                          layer before it defines, and public headers belong where HEADERS says
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

ORDER = """base simd nn map draws target diagnostics kernel classical learned file bench checkpoint
           look explore judge fit trainer anice sampler report run""".split()
APART = {"sampler": {"look", "explore", "judge", "fit", "trainer", "anice"}}
HEADERS = {
    "status": "base", "ranks": "base", "draws": "draws", "parameters": "target", "density": "target",
    "target": "target", "diagnostics": "diagnostics", "kernel": "kernel", "bench": "bench", "trainer": "trainer",
    "verify": "trainer", "anice": "anice", "sampler": "sampler", "figure": "report", "report": "report", "run": "run",
}  # fmt: skip


def allowed(own, other):
    return ORDER.index(other) <= ORDER.index(own) and other not in APART.get(own, ())


def included(path):
    """(line, layer or None, what it says) for every include of ours in a file of src/ or include/."""
    public = path.parent.name == "aisampler"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*(?:"([^"]*)"|<aisampler/(\w+)\.h>)', line)
        if not found:
            continue
        name = found.group(1) or found.group(2) + ".h"
        if public or found.group(2):
            yield number, HEADERS.get(name.removesuffix(".h")), f"<aisampler/{name}>"
        else:
            layer = name.split("/")[0] if "/" in name else None
            yield number, layer if layer in ORDER else None, name


def files(root):
    """(path, layer) of all sources and of the public headers."""
    for path in sorted(root.glob("src/*/*.[ch]")):
        yield path, path.parent.name
    for path in sorted(root.glob("include/aisampler/*.h")):
        if path.stem != "aisampler":
            yield path, HEADERS.get(path.stem)


def check_sources(root):
    for path, own in files(root):
        if own not in ORDER:
            yield f"{path}: its layer is not in the list"
            continue
        for number, layer, name in included(path):
            if layer is None:
                yield f'{path}:{number}: {name} is of no layer; internal includes are written "layer/file.h"'
            elif not allowed(own, layer):
                yield f"{path}:{number}: {own} must not include {layer} ({name})"
    for path in sorted(root.glob("cli/**/*.[ch]")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*"([^"]*)"', line)
            if found and not (root / "cli" / found.group(1)).exists():
                yield f"{path}:{number}: the command includes its own and public headers only"


def symbols(build):
    """Two tables: the layers that define a symbol, and the object files that use it."""
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    commands = json.loads((build / "compile_commands.json").read_text())
    objects = sorted({re.search(r" -o (\S+)", command["command"]).group(1) for command in commands})
    ours = [name for name in objects if re.match(r"CMakeFiles/\w+\.dir/src/\w+/\w+\.c\.o$", name)]
    lines = subprocess.run(["nm", "-A", *ours], cwd=build, check=True, capture_output=True, text=True).stdout
    for line in lines.splitlines():
        kind, name = line.split()[-2:]
        layer, file = line.split(":")[0].split("/")[-2:]
        if name.startswith("ais_") and kind == "U":
            used[name].add((layer, file))
        elif name.startswith("ais_") and kind.isupper():
            defined[name].add(layer)
    return defined, used


def check_objects(build, root):
    defined, used = symbols(build)
    if not defined:
        yield f"{build} has no object files"
    for name in sorted(used):
        for own, file in sorted(used[name]):
            for layer in sorted(defined[name]):
                if not allowed(own, layer):
                    yield f"{own}/{file} calls {name} of {layer}"
    for header, layer in HEADERS.items():
        text = re.sub(r"/\*.*?\*/|typedef \w+ \w+\(", "", (root / f"include/aisampler/{header}.h").read_text(), flags=re.S)
        homes = set().union(*(defined.get(name, set()) for name in re.findall(r"\b(ais_\w+)(?=[(\[])", text)))
        first = min(homes, key=ORDER.index, default=layer)
        if first != layer:
            yield f"<aisampler/{header}.h> belongs to {first}, the first that implements some of it, not to {layer}"


def main():
    if sys.argv[1:2] == ["--objects"]:
        wrong = list(check_objects(pathlib.Path(sys.argv[2]), pathlib.Path(".")))
        good = "layers: every call follows the flow"
    else:
        wrong = list(check_sources(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
        good = "layers: every include follows the flow"
    print("\n".join(wrong) if wrong else good)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
