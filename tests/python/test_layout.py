"""The structs that ctypes sees are those of the headers."""

import ctypes
import pathlib
import subprocess

from aisampler import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_fields_lie_where_the_headers_have_them(tmp_path):
    lines, expected = [], []
    for name, struct in _library.STRUCTS.items():
        for field, _ in struct._fields_:
            here = getattr(struct, field)
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
            expected.append(f"{name}.{field} {here.offset} {here.size}")
        if struct is not _library.RunResult:  # of which only the beginning is read
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            expected.append(f"{name} {ctypes.sizeof(struct)}")
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n#include <aisampler/aisampler.h>\nint main(void) {\n"
        + "\n".join(lines) + "\n}\n"
    )
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "layout"], check=True)
    said = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    assert said.split("\n")[:-1] == expected
