#!/bin/bash
# tables.sh - the descriptors of all built-in plug-ins are complete: see tables.c.
set -u
cd "$(dirname "$0")/../.." || exit 2
check=${BUILD:-build}/tests/lint/tables
[ -x "$check" ] || { echo "$check is not built: make lint"; exit 2; }
"$check"
