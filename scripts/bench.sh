#!/bin/sh
# Compares shuffled with other software for the same task, in one run on this machine
# (perf/bench), and at the end prints which goals are reached. Arguments go to the test:
#
#   -quick           one short round, to see that it works
#   -period 10s      how long each load is measured in a round
#   -rounds 5        how often the programs take turns
#   -open 1000000    how many shuffles are open in the row that never closes them
#   -entries 1000000 size of the ledger that is compared with one of 100,000 entries
#   -only NAME       only one section: counts (what is written for a hand and a deal), hands, strangers
#                    (dealing while strangers read), followers (while streams of events catch up), open,
#                    ledgers, blind (a house and its co-dealer, two daemons) or growth
#   -json FILE       the table as JSON, alongside the text
set -eu
sh scripts/postgres.sh
here=$(pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go test -C perf -c -o "$dir/bench.test" ./bench
for arg; do # a relative file name is relative to the caller's directory
	shift
	case ${last-} in -json) case $arg in /*) ;; *) arg=$here/$arg ;; esac ;; esac
	last=$arg
	set -- "$@" "$arg"
done
cd perf/bench
SHUFFLED_REQUIRE_POSTGRES=1 "$dir/bench.test" -test.timeout 60m -test.run '^TestCompare$' -compare "$@"
