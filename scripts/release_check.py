"""Whether a built wheel works where nothing else of this repository is: `make release-check`.

The wheel is installed in an environment of its own, and the README's first example is run there, in an empty folder.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXPECTED = "Day 7: order A-1007 costs 27 EUR."
"""What the README says that the example prints last."""


def first_example() -> str:
    """The first Python block of the README."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    if found is None:
        sys.exit("error: the README has no Python block")
    return found[1]


def run(python: Path, *arguments: str, folder: Path) -> str:
    """What a command prints; its failure ends the check."""
    done = subprocess.run([str(python), *arguments], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - its own environment
    if done.returncode:
        sys.exit(f"error: {' '.join(arguments[:3])} …\n{done.stdout}{done.stderr}")
    return done.stdout


def main(dist: Path) -> None:
    """Check the one wheel of a folder."""
    wheels = list(dist.glob("*.whl"))
    if len(wheels) != 1 or not list(dist.glob("*.tar.gz")):
        sys.exit(f"error: {dist} must hold one wheel and a source distribution: run make build")
    wheel = wheels[0].resolve()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        empty = folder / "empty"
        empty.mkdir()
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel), folder=empty)
        version = run(python, "-c", "import langchain_ctxcompress as c; print(c.__version__)", folder=empty).strip()
        if not wheel.name.startswith(f"langchain_ctxcompress-{version}-"):
            sys.exit(f"error: {wheel.name} holds version {version}")
        (empty / "example.py").write_text(first_example(), encoding="utf-8")
        printed = run(python, "example.py", folder=empty)
        if printed.splitlines()[-1:] != [EXPECTED]:
            sys.exit(f"error: the README's first example printed\n{printed}instead of, last, {EXPECTED!r}")
        run(python, "-m", "langchain_ctxcompress.cli", "--version", folder=empty)
    sys.stdout.write(f"{wheel.name} works in an environment of its own: the README's first example printed\n{printed}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
