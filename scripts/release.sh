#!/bin/sh
# Makes a release of the commit that is checked out, the same bytes each time:
#
#     sh scripts/release.sh DIR [KEY]
#
# DIR must not exist. In the checkout it must be a directory that git ignores, such as dist.
# It gets the programs of each platform, Debian packages, an OCI image, the bill of materials
# (CycloneDX), LICENSE, NOTICE, LICENSES.txt with the licences of all libraries, whose names it
# prints, the provenance (in-toto) and SHA256SUMS. KEY is an Ed25519 private key in PEM
# ("openssl genpkey -algorithm ed25519"): it signs SHA256SUMS into SHA256SUMS.sig. Without it
# nothing is signed. PLATFORMS="linux-amd64" makes only these. If the first heading of
# CHANGELOG.md names no version, the version names the commit.
#
# Anybody can check the release with standard tools:
#
#     openssl pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
#     sha256sum -c SHA256SUMS
set -eu
[ $# -ge 1 ] || { echo 'release: sh scripts/release.sh DIR [KEY]' >&2; exit 2; }
[ ! -e "$1" ] || { echo "release: $1 is there already: name a new directory" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
key=${2-}
case $key in '' | /*) ;; *) key=$PWD/$key ;; esac
cd "$(dirname "$0")/.."
case $dir in "$PWD"/*) git check-ignore -q "$dir" || {
	echo "release: $dir lies in the checkout, and git does not ignore it: name dist, or one elsewhere" >&2
	exit 2
} ;; esac
unchanged() {
	[ -z "$(git status --porcelain)" ] && [ "$(git rev-parse HEAD)" = "$commit" ] && return
	echo 'release: the checkout has changes: commit them first, and make none until the release is there' >&2
	exit 2
}
commit=$(git rev-parse HEAD)
unchanged
VERSION=$(sh scripts/version.sh)
export VERSION

for platform in ${PLATFORMS-linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64 windows-arm64}; do
	os=${platform%-*}
	case $os in linux) programs='shuffled shuffled-lab shuffled-bench' ;; *) programs=shuffled ;; esac
	case $os in windows) end=.exe ;; *) end= ;; esac
	echo "release: $VERSION for $platform"
	GOOS=$os GOARCH=${platform#*-} PROGRAMS=$programs sh scripts/build.sh "$dir/$platform/shuffled$end"
done
go run -C tools/release . -dir "$dir" -source "$PWD" -version "$VERSION" -commit "$commit" \
	-time "$(git show -s --format=%ct "$commit")"
unchanged
cd "$dir"
sha256sum --quiet -c SHA256SUMS
[ -z "$key" ] || openssl pkeyutl -sign -inkey "$key" -rawin -in SHA256SUMS -out SHA256SUMS.sig
cat SHA256SUMS
