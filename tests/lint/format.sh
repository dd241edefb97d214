#!/bin/bash
# format.sh - every C file as clang-format (Debian 12: 14) writes it. `make format` mends it.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v clang-format >/dev/null || { echo "clang-format is not installed: make deps"; exit 1; }
bad=$(git ls-files -co --exclude-standard '*.c' '*.h' | xargs -P 2 -n 20 clang-format --dry-run -Werror 2>&1 | grep -E '^[^ ]+:[0-9]+' | cut -d: -f1 | sort -u)
[ -z "$bad" ] || { echo "$bad" | sed 's/$/: not formatted (make format)/'; exit 1; }
