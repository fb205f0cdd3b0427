#!/bin/sh
# Write every lock anew (make lock). Locks are universal (Linux, macOS, Windows, Python 3.11 and newer) and name no host.
# UPGRADE=--upgrade takes the newest versions; without it, what is locked stays locked where it still fits.
set -eu
uv=.venv/bin/uv

lock() {
    out=$1
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header \
        ${UPGRADE:-} -o "requirements/$out.txt" "$@"
}

lock dev pyproject.toml --extra lab --extra auth --group dev
lock models pyproject.toml requirements/models.in --extra models
for name in servers peers-mcp2 peers-mcp1 peers-fastmcp peers-datalayer front-lab42 front-notebook75; do
    lock "$name" "requirements/$name.in"
done
lock hub pyproject.toml requirements/hub.in
lock libraries pyproject.toml requirements/libraries.in
# The views are checked on the CPU: what torch would bring for graphics cards is left out (gigabytes).
grep -vE '^(nvidia-|cuda-|triton==)' requirements/libraries.txt > build/libraries.lock
mv build/libraries.lock requirements/libraries.txt
for folder in tests/interop/npm tests/conformance/npm tests/hub/npm; do
    (cd "$folder" && npm install --package-lock-only --ignore-scripts --no-audit --no-fund)
done
