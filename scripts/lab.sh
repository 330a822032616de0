#!/bin/sh
# Tests raw output of the generator (shuffled lab raw) with third-party suites:
# rngtest (the FIPS 140-2 tests) and dieharder. They are smoke tests: a broken
# generator fails them, a predictable one may pass, and a good one sometimes fails a
# test.
#
#     sh scripts/lab.sh [OPTION …]
#
#     --minutes N     stop dieharder before its next test after N minutes (4)
#     --full          no time limit, and dieharder with its own sample sizes
#     --tests "N …"   these tests of dieharder only (numbers of dieharder -l)
#     --blocks N      number of blocks of 20,000 bits for rngtest, 1000 or more
#                     (20000: 50 MB)
#     --out DIR       results below this directory (lab-results)
#
# If a suite is missing, installs Debian's package if that is possible without asking
# (root, apt-get); SHUFFLED_INSTALL=no: never. Otherwise skips the suite and says so.
#
# Results are in DIR/RUN: the output of each suite, a table (summary.txt), versions
# and parameters (run.txt) and the SHA-256 of all of them. Exit code 0: nothing
# failed; 1: a test failed again on more data, or rngtest refuses far too many
# blocks; 2: usage; 3: could not run, or nothing ran, or dieharder is installed and
# none of its tests ran.
set -eu

minutes=4 full=no tests='' blocks=20000 out=lab-results
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=yes ;;
	--minutes | --tests | --blocks | --out)
		[ $# -ge 2 ] || { echo "lab: $1 needs a value" >&2; exit 2; }
		case $1 in
		--minutes) minutes=$2 ;;
		--tests) tests=$2 ;;
		--blocks) blocks=$2 ;;
		--out) out=$2 ;;
		esac
		shift
		;;
	*) echo "lab: unknown option $1: see the head of scripts/lab.sh" >&2; exit 2 ;;
	esac
	shift
done
case $minutes$blocks in *[!0-9]*) echo "lab: --minutes and --blocks are numbers" >&2; exit 2 ;; esac
[ "${blocks:-0}" -ge 1000 ] || { echo "lab: --blocks is 1000 or more: fewer show nothing" >&2; exit 2; }
case $tests in *[!0-9\ ]*) echo "lab: --tests are numbers of dieharder -l" >&2; exit 2 ;; esac
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null; }

# need PROGRAM PACKAGE …: finds the program, or installs the first package that has it.
need() {
	program=$1
	shift
	! has "$program" || return 0
	if [ "$(id -u)" = 0 ] && has apt-get && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
		export DEBIAN_FRONTEND=noninteractive
		for package in "$@"; do
			echo "lab: installing Debian's $package for $program" >&2
			apt-get install -q -y --no-install-recommends "$package" </dev/null >&2 && break
			apt-get update -q </dev/null >&2 || true
			apt-get install -q -y --no-install-recommends "$package" </dev/null >&2 && break
		done
	fi
	has "$program" || {
		echo "*** lab: no $program here (Debian: $*): it is SKIPPED ***" >&2
		return 1
	}
}

# raw BYTES: the generator's output. A suite may close the pipe when it has enough.
raw() { "$run/shuffled-lab" raw --bytes "$1" --workers 1 2>>"$run/raw.log"; }

# note LINE: records what was run, and how.
note() { echo "$*" >>"$run/run.txt"; }

run=$out/$(date -u +%Y%m%dT%H%M%SZ)-$$
mkdir -p "$run"
trap 'rm -f "$run/shuffled-lab" "$run/shuffled"' EXIT
trap 'echo "lab: interrupted; $run is not whole" >&2; exit 3' INT TERM
export CGO_ENABLED=0
go build -trimpath -o "$run/shuffled" ./cmd/shuffled || exit 3
go build -C lab -trimpath -o "$run/shuffled-lab" ./cmd/shuffled-lab || exit 3
note "run        ${run##*/}"
changes=$(git status --porcelain 2>/dev/null || true)
note "commit     $(git rev-parse HEAD 2>/dev/null || echo unknown)${changes:+, and changes}"
note "binary     $(sha256sum <"$run/shuffled-lab" | cut -d' ' -f1)"
"$run/shuffled" version | sed 's/^/           /' >>"$run/run.txt"
note "machine    $(uname -srm)"
began=$(date +%s)
ran=0 failed=0 idle=no

# rngtest fails about 8 blocks in 10,000 of a perfect generator. More than 3 times
# as many plus ten is no chance (below 1e-20 at 1,000 blocks or more).
if need rngtest rng-tools5 rng-tools-debian rng-tools; then
	ran=$((ran + 1))
	note "rngtest    $(rngtest --version 2>&1 | head -n 1); blocks: $blocks"
	echo "lab: rngtest, $blocks blocks of 20,000 bits" >&2
	raw $(((blocks + 1) * 2500)) | rngtest -c "$blocks" >"$run/rngtest.txt" 2>&1 || true
	good=$(sed -n 's/^rngtest: FIPS 140-2 successes: //p' "$run/rngtest.txt")
	bad=$(sed -n 's/^rngtest: FIPS 140-2 failures: //p' "$run/rngtest.txt")
	if [ "$((${good:-0} + ${bad:-0}))" -ne "$blocks" ]; then
		verdict='DID NOT RUN' failed=$((failed + 1))
	elif [ "$bad" -gt $((blocks * 24 / 10000 + 10)) ]; then
		verdict=FAILED failed=$((failed + 1))
	else
		verdict=passed
	fi
	printf '%-34s %-8s %s\n' "rngtest FIPS 140-2" "$verdict" \
		"${bad:-?} of $blocks blocks fail; about $((blocks * 8 / 10000)) do by chance" >>"$run/summary.txt"
fi

# dieharder, test by test, so that the time limit can end it between two. -Y 1 takes more
# data until a doubtful result is decided; WEAK alone comes by chance once in 100.
# dieharder itself calls tests 5, 6, 7 and 14 suspect, or not to be used. The quick run
# takes the tests that need the least data.
if need dieharder dieharder; then
	before=$ran
	quick='0 1 2 3 8 10 11 15 16 100 101'
	all='0 1 2 3 4 8 9 10 11 12 13 15 16 17 100 101 102 200 201 202 203 204 205 206 207 208 209'
	if [ "$full" = yes ]; then default=$all; else default=$quick; fi
	version=$(dieharder -h 2>&1 | sed -n 's/.*dieharder version \([0-9.]*\).*/\1/p' | head -n 1)
	fewer=' -p 20'
	[ "$full" = no ] || fewer=
	note "dieharder  $version; generator 200 (standard input, binary), -Y 1 -k 2$fewer, tests: ${tests:-$default}"
	for test in ${tests:-$default}; do
		if [ "$full" = no ] && [ $(($(date +%s) - began)) -ge $((minutes * 60)) ]; then
			printf '%-34s %-8s %s\n' "dieharder -d $test" "not run" "$minutes minutes are over" >>"$run/summary.txt"
			continue
		fi
		echo "lab: dieharder -d $test, after $(($(date +%s) - began)) s" >&2
		samples='-p 20'
		[ "$full" = no ] || samples=
		# 10^15 bytes: dieharder reads what it needs, and closes the pipe.
		# shellcheck disable=SC2086 # two words, or none
		raw 1000000000000000 | dieharder -d "$test" -g 200 -Y 1 -k 2 $samples >"$run/dieharder-$test.txt" 2>&1 || true
		lines=$(grep -E '\| *(PASSED|WEAK|FAILED) *$' "$run/dieharder-$test.txt" || true)
		if [ -z "$lines" ]; then
			printf '%-34s %-8s\n' "dieharder -d $test" "DID NOT RUN" >>"$run/summary.txt"
			failed=$((failed + 1))
			continue
		fi
		ran=$((ran + 1))
		echo "$lines" | awk -F'|' '{ gsub(/ /, "", $1); gsub(/ /, "", $2); gsub(/ /, "", $5); gsub(/ /, "", $6)
			v = $6 == "PASSED" ? "passed" : $6
			printf "%-34s %-8s p = %s\n", "dieharder " $1 " " $2, v, $5 }' >>"$run/summary.txt"
		failed=$((failed + $(echo "$lines" | grep -c FAILED || true)))
	done
	[ "$ran" -gt "$before" ] || idle=yes
fi

note "seconds    $(($(date +%s) - began))"
rm -f "$run/shuffled-lab" "$run/shuffled"
(cd "$run" && sha256sum -- * >../sums.$$ && mv ../sums.$$ SHA256SUMS)
echo
cat "$run/run.txt"
echo
[ ! -f "$run/summary.txt" ] || cat "$run/summary.txt"
echo
echo "These are smoke tests: they find a generator that is broken, not one that is predictable."
echo "results: $run"
if [ "$ran" -eq 0 ]; then
	echo "*** lab: nothing ran ***" >&2
	exit 3
fi
[ "$idle" = no ] || echo "*** lab: dieharder is here, and none of its tests ran ***" >&2
[ "$failed" -eq 0 ] || exit 1
[ "$idle" = no ] || exit 3
