#!/bin/sh
# Prints the path of the first Python that can run this project: $PYTHON if it is set, then the usual names on PATH.
#
# Each candidate is run, not only looked up: a name on PATH may be a shim that fails, and an old Python is as good as
# none. Uses nothing but the shell itself, so that it also works where little else is installed.
set -eu

MINIMUM="3.11"

# Runs on any Python, 2.7 included. Exit status: 0 usable, 11 too old, 12 cannot make a virtual environment.
PROBE='
import sys
print("%d.%d.%d" % tuple(sys.version_info[:3]))
print(sys.executable)
if sys.version_info < (3, 11):
    sys.exit(11)
try:
    import ensurepip, venv
except ImportError:
    sys.exit(12)
'

too_old=""
no_venv=""

for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    [ -n "$candidate" ] || continue
    command -v "$candidate" >/dev/null 2>&1 || continue
    status=0
    answer=$("$candidate" -c "$PROBE" 2>/dev/null </dev/null) || status=$?
    version=${answer%%
*}
    case $status in
        0)
            printf '%s\n' "${answer#*
}"
            exit 0
            ;;
        11) too_old="$too_old${too_old:+, }$candidate is $version" ;;
        12) no_venv="$no_venv${no_venv:+, }$candidate ($version)" ;;
    esac
done

{
    if [ -n "$no_venv" ]; then
        printf 'error: this Python cannot make virtual environments: %s. Install its venv module (Debian and Ubuntu: apt install python3-venv) and run again, or name another Python: make PYTHON=/path/to/python%s ...\n' "$no_venv" "$MINIMUM"
    elif [ -n "$too_old" ]; then
        printf 'error: Python %s or newer is needed, and every Python found is older: %s. Install a newer one and run again, or name one: make PYTHON=/path/to/python%s ...\n' "$MINIMUM" "$too_old" "$MINIMUM"
    else
        printf 'error: Python %s or newer is needed, and none was found on PATH. Install one and run again, or name one: make PYTHON=/path/to/python%s ...\n' "$MINIMUM" "$MINIMUM"
    fi
} >&2
exit 1
