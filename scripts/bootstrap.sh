#!/bin/sh
# Makes .venv beside the Makefile and installs the project with its development tools into it. Quick when that is done.
#
# A stamp in .venv says what it was made for: the content of pyproject.toml, and the directory (an editable install
# holds its path). When either changed, pip runs again; when the environment no longer works, it is made anew.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

venv=.venv
stamp=$venv/.installed
wanted="$(cksum <pyproject.toml) $(pwd -P)"

works() {
    [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import pip' >/dev/null 2>&1
}

if works && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi

if ! works; then
    python=$(sh scripts/find_python.sh)
    echo "Making .venv with $python"
    "$python" -m venv --clear "$venv" || {
        echo "error: $python could not make .venv (its reason is above). Try another one: make PYTHON=/path/to/python3.11 ..." >&2
        exit 1
    }
fi
rm -f "$stamp"

echo "Installing the project and its development tools into .venv (once; a minute or two)"
"$venv/bin/python" -c '
import pathlib, tomllib
groups = tomllib.loads(pathlib.Path("pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
print("\n".join(groups["dev"]))
' >"$venv/dev-requirements.txt"  # older pips do not read dependency groups themselves
"$venv/bin/python" -m pip install --quiet --quiet --no-input --disable-pip-version-check \
    --editable '.[agents,postgres]' --requirement "$venv/dev-requirements.txt" || {
    echo "error: the installation failed (pip's reason is above). It needs a package index: check the network or pip's configuration, then run again." >&2
    exit 1
}
printf '%s' "$wanted" >"$stamp"
