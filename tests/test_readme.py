"""The README's code and the examples do what they say."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_code_blocks_of_the_readme_run_one_after_the_other() -> None:
    assert len(BLOCKS) >= 2
    exec(compile("\n".join(BLOCKS), "README.md", "exec"), {})


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_each_example_runs_and_prints_something(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert len(printed) > 100
    assert "lost -" not in printed
