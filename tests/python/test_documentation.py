"""Every ```python block of the README, docs/ and docs/howto/ runs."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = [
    pytest.param(block, id=f"{page.name} {k}" + (" with jax" if "import jax" in block else ""))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "howto").glob("*.md"))]
    for k, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S), 1)
]


def test_there_are_blocks():
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS)
def test_block(block, monkeypatch):
    if "import jax" in block:
        pytest.importorskip("jax")
    if "stan=" in block:
        pytest.importorskip("stanli")
    monkeypatch.chdir(ROOT)
    exec(compile(block, "block", "exec"), {})
