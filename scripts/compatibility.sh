#!/bin/sh
# Runs tests with the lowest or the newest versions that pyproject.toml allows, in an environment beside .venv.
#
#   compatibility.sh lowest-direct|highest ENVIRONMENT TESTS...
#
# PYTHON names the interpreter; otherwise the one of .venv. PARALLEL: processes of the tests; all cores otherwise. The
# override lets the newest langchain-core in where the index has no certifi as new as it asks for; no test goes over a
# network.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

resolution=$1 environment=$2
shift 2
python=${PYTHON:-.venv/bin/python}
uv() { .venv/bin/python -m uv "$@"; }

uv venv --quiet --seed --clear --python "$python" "$environment"
.venv/bin/python -c '
import pathlib, tomllib
settings = tomllib.loads(pathlib.Path("pyproject.toml").read_text(encoding="utf-8"))
print("\n".join(settings["dependency-groups"]["dev"]))
' >"$environment/dev-requirements.txt"
echo "certifi>=2020" >"$environment/overrides.txt"
uv pip install --quiet --python "$environment/bin/python" --resolution "$resolution" \
    --override "$environment/overrides.txt" --editable '.[agents,postgres]' \
    --requirement "$environment/dev-requirements.txt"
uv pip list --python "$environment/bin/python" 2>/dev/null | grep -E '^(langchain|langgraph|pydantic)' || true
exec "$environment/bin/python" -m pytest -m "not slow and not realmodel" --timeout 300 --numprocesses "${PARALLEL:-auto}" "$@"
