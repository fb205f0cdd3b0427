#!/bin/sh
# Install the servers that come from npm into build/npm, from the lock. Without Node it says so: their tests then skip.
set -eu
if ! command -v npm >/dev/null 2>&1; then
    echo "npm is not installed: the tests with servers written in TypeScript will be skipped"
    exit 0
fi
mkdir -p build/npm
cp tests/interop/npm/package.json tests/interop/npm/package-lock.json tests/interop/npm/.npmrc build/npm/
echo "installing tests/interop/npm/package-lock.json into build/npm"
cd build/npm
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
