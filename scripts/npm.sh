#!/bin/sh
# npm.sh [SOURCE TARGET]: install what the lock in SOURCE names into TARGET; by default, other people's servers.
# Without npm it says so, and what needs TARGET is skipped.
set -eu
source=${1:-tests/interop/npm}
target=${2:-build/npm}
if ! command -v npm >/dev/null 2>&1; then
    echo "npm is not installed: the tests that need $target will be skipped"
    exit 0
fi
mkdir -p "$target"
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$target/"
echo "installing $source/package-lock.json into $target"
cd "$target"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
