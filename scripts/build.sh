#!/bin/sh
# Builds the binary so that the same commit gives the same bytes on every machine
# with the same compiler and platform:
#
#     sh scripts/build.sh [FILE]        default: bin/shuffled
#
# No C, no paths of this machine, no state of its git. The commit is told to the
# binary by this script; an unpacked source archive has no git: COMMIT names it
# there. GOFIPS140=v1.0.0 builds on the validated module: other bytes, as
# reproducible.
set -eu
out=${1-bin/shuffled}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/.."
if [ -z "${COMMIT-}" ]; then
	COMMIT=$(git rev-parse HEAD)
	[ -z "$(git status --porcelain)" ] || COMMIT=$COMMIT-modified
fi
# Of what a user has set for go only that counts which says where modules are; the
# rest could change the bytes.
for name in GOPROXY GOSUMDB GOPRIVATE GOMODCACHE GOCACHE; do
	export "$name=$(go env $name)"
done
unset GOAMD64 GOARM64 GOEXPERIMENT GODEBUG
export CGO_ENABLED=0 GOENV=off GOFLAGS='' GOWORK=off
exec go build -trimpath -buildvcs=false -ldflags "-X main.commit=$COMMIT" -o "$out" ./cmd/shuffled
