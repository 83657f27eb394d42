"""Runs the notebooks, each in a kernel of its own from the project's directory, and keeps what they print and show.

`python -m scripts.notebooks` runs all of them in place, `… 01 06` those whose names begin so, and with `--out DIR` they
are written to another directory.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
SECONDS = 240
"""A cell that takes longer is taken to hang."""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class ThisPython(KernelManager):
    """A kernel of this environment, whatever kernels are installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """This interpreter."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="this one", language="python")


def run(given: Path, out: Path) -> None:
    """Run a notebook and write it with its outputs, without the times and versions of this run.

    Args:
        given: The notebook.
        out: Where it is written.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell raised.
    """
    notebook: Any = nbformat.read(given, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, km=ThisPython(), resources={"metadata": {"path": str(ROOT)}}).execute()
    for cell in notebook.cells:
        cell.metadata = {key: value for key, value in cell.metadata.items() if key == "tags"}
    notebook.metadata = METADATA
    nbformat.write(notebook, out)


def main() -> int:
    """Run the notebooks that are named, or all of them."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="the beginnings of notebooks' names")
    parser.add_argument("--out", type=Path, default=NOTEBOOKS, metavar="DIR", help="where they are written")
    asked = parser.parse_args()
    for given in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not asked.names or given.name.startswith(tuple(asked.names)):
            run(given, asked.out / given.name)
            sys.stdout.write(f"{given.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
