#!/bin/sh
# Compares shuffled with what a user would pick instead, in one run on this
# machine (internal/bench). Arguments go to the test, such as -period 10s.
set -eu
sh scripts/postgres.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go test -c -o "$dir/bench.test" ./internal/bench
cd internal/bench
SHUFFLED_REQUIRE_POSTGRES=1 "$dir/bench.test" -test.timeout 30m -test.run '^TestCompare$' -compare "$@"
