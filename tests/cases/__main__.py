"""`python -m tests.cases --cases FILE --inputs DIR [--out DIR] [--only ID]`: one JSON line a case."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.cases.runner import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description="Run case files.")
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only")
    given = parser.parse_args()
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    for line in given.cases.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            case = json.loads(line)
            if given.only in (None, case["id"]):
                print(json.dumps(run(case, given.inputs, given.out), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
