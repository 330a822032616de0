#!/bin/sh
# Compares shuffled with what a user would pick instead, in one run on this
# machine (internal/bench). Arguments go to the test, such as -period 10s.
set -eu
sh scripts/postgres.sh
SHUFFLED_REQUIRE_POSTGRES=1 exec go test -count=1 -timeout 30m ./internal/bench -run '^TestCompare$' -compare "$@"
