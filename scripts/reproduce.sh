#!/bin/sh
# Shows that the build is reproducible: clones the commit twice into directories of
# different names, builds the programs in each, and compares the bytes.
#
#     sh scripts/reproduce.sh           with two empty caches: minutes
#     CACHE=shared sh scripts/reproduce.sh
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
commit=$(git rev-parse HEAD) # the same for both, even if somebody commits during this
for dir in a "another place"; do
	git clone --quiet --no-hardlinks . "$work/$dir"
	git -C "$work/$dir" -c advice.detachedHead=false checkout --quiet "$commit"
	[ "${CACHE-}" = shared ] || export GOCACHE="$work/cache of $dir"
	sh "$work/$dir/scripts/build.sh" "$work/$dir/bin/shuffled"
	(cd "$work/$dir/bin" && sha256sum -- *)
done
for program in "$work"/a/bin/*; do
	cmp "$program" "$work/another place/bin/${program##*/}"
done
echo "reproducible: $commit, $(go version), GOFIPS140=$(go env GOFIPS140)"
