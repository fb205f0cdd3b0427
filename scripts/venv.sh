#!/bin/sh
# Make a virtual environment and install a lock into it:  scripts/venv.sh DIR LOCK [more pip arguments]
# The interpreter is $PYTHON, else the first of python3, python3.13, python3.12, python3.11 that is 3.11 or newer.
set -eu

dir=$1
lock=$2
shift 2

usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

choose() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 && usable "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "jupyter_mcp needs Python 3.11 or newer with its venv module (on Debian and Ubuntu: the package python3-venv)." >&2
    echo "None of \$PYTHON, python3, python3.13, python3.12, python3.11 is that. Name one: make PYTHON=/path/to/python" >&2
    exit 1
}

if [ ! -x "$dir/bin/python" ] || ! "$dir/bin/python" -c 'import pip' >/dev/null 2>&1; then
    python=$(choose)
    echo "making $dir with $("$python" --version)"
    "$python" -m venv --clear "$dir"
fi

echo "installing $lock into $dir (the first time this takes a minute or two)"
"$dir/bin/python" -m pip install -qq --disable-pip-version-check --no-input -r "$lock"
if [ $# -gt 0 ]; then
    "$dir/bin/python" -m pip install -qq --disable-pip-version-check --no-input "$@"
fi
