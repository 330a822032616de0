#!/bin/sh
# Builds the programs so that the same commit gives the same bytes on every machine
# with the same compiler and platform:
#
#     sh scripts/build.sh [FILE]        default: bin/shuffled
#
# PROGRAMS=shuffled builds only that program; GOOS and GOARCH choose another platform. The
# version is VERSION, or what scripts/version.sh prints.
#
# shuffled is FILE. shuffled-lab and shuffled-bench, which it runs for its commands
# lab and bench, are in the same directory.
#
# The programs have no C, no paths of this machine and no state of its git. This script
# tells them the commit. An unpacked source archive has no git: COMMIT names the commit
# there. In a checkout that has changes, or is of another commit than COMMIT names,
# -modified is added to it. GOFIPS140=v1.0.0 builds on the validated module: the bytes
# differ, and are as reproducible.
set -eu
out=${1-bin/shuffled}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/.."
if [ -e .git ]; then
	head=$(git rev-parse HEAD)
	changes=$(git status --porcelain)
	COMMIT=${COMMIT:-$head}
	if [ -n "$changes" ] || [ "${COMMIT%-modified}" != "$head" ]; then
		COMMIT=${COMMIT%-modified}-modified
	fi
elif [ -z "${COMMIT-}" ]; then
	echo "build: no checkout of git here: COMMIT=... names the commit" >&2
	exit 2
fi
# Of a user's settings for go, only those that say where modules are count; the others
# could change the bytes.
for name in GOPROXY GOSUMDB GOPRIVATE GOMODCACHE GOCACHE; do
	export "$name=$(go env $name)"
done
unset GOAMD64 GOARM64 GOEXPERIMENT GODEBUG
export CGO_ENABLED=0 GOENV=off GOFLAGS='' GOWORK=off

export COMMIT
VERSION=${VERSION-$(sh scripts/version.sh)}
of=shuffled/internal/build

# build MODULE PROGRAM FILE
build() {
	case " ${PROGRAMS-shuffled shuffled-lab shuffled-bench} " in *" $2 "*) ;; *) return 0 ;; esac
	go build -C "$1" -trimpath -buildvcs=false -ldflags "-X $of.Commit=$COMMIT -X $of.Release=$VERSION" \
		-o "$3" "./cmd/$2"
}
build . shuffled "$out"
build lab shuffled-lab "${out%/*}/shuffled-lab"
build perf shuffled-bench "${out%/*}/shuffled-bench"
