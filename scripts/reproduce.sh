#!/bin/sh
# Shows that the release is reproducible: clones the commit twice into directories of
# different names, makes the release in each (scripts/release.sh), and compares the bytes.
# Then it checks one of them like a user, with standard tools and the program itself, installs
# its package in a new Debian, and runs its image without a container engine.
#
#     sh scripts/reproduce.sh                 with two empty caches: minutes
#     CACHE=shared sh scripts/reproduce.sh    installs nothing
#
# PLATFORMS names the platforms: linux-amd64 and windows-amd64 if it is not set.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
# --one-file-system: never removes what is mounted in the new Debian.
trap 'rm -rf --one-file-system "$work/debian" && chmod -R u+w "$work" && rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export PLATFORMS="${PLATFORMS-linux-amd64 windows-amd64}"
openssl genpkey -algorithm ed25519 -out "$work/release.key"
openssl pkey -in "$work/release.key" -pubout -out "$work/release.pub"
commit=$(git rev-parse HEAD) # the same for both, even if somebody commits during this
for dir in a "another place"; do
	git clone --quiet --no-hardlinks . "$work/$dir"
	git -C "$work/$dir" -c advice.detachedHead=false checkout --quiet "$commit"
	[ "${CACHE-}" = shared ] || export GOCACHE="$work/cache of $dir"
	sh "$work/$dir/scripts/release.sh" "$work/$dir/dist" "$work/release.key"
done
diff -r "$work/a/dist" "$work/another place/dist"

cd "$work/a/dist"
openssl pkeyutl -verify -pubin -inkey "$work/release.pub" -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
sha256sum --quiet -c SHA256SUMS
if command -v dpkg-deb >/dev/null; then
	for package in *.deb; do
		dpkg-deb --extract "$package" "$work/root of $package"
		cmp "$work/root of $package/usr/bin/shuffled" "linux-$(dpkg-deb --field "$package" Architecture)/shuffled"
	done
fi
if [ "${CACHE-}" != shared ]; then
	sh "$work/a/scripts/debian.sh" "$work/debian" && export SHUFFLED_DEBIAN="$work/debian" ||
		echo "*** no new Debian here: the package is not installed: SKIPPED ***" >&2
	SHUFFLED_RELEASE=$PWD go test -C "$work/a/tools/release" -count=1 -v -run '^(TestInstalled|TestImageRuns)$' .
fi
echo "reproducible: $commit, $(go version), GOFIPS140=$(go env GOFIPS140)"
