#!/bin/sh
# Shows that the build is reproducible: clones the commit twice into directories of
# different names, builds each, and compares the bytes.
#
#     sh scripts/reproduce.sh           with two empty caches: minutes
#     CACHE=shared sh scripts/reproduce.sh
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
for dir in a "another place"; do
	git clone --quiet --no-hardlinks . "$work/$dir"
	[ "${CACHE-}" = shared ] || export GOCACHE="$work/cache of $dir"
	sh "$work/$dir/scripts/build.sh" "$work/$dir/shuffled"
	(cd "$work/$dir" && sha256sum shuffled)
done
cmp "$work/a/shuffled" "$work/another place/shuffled"
echo "reproducible: $(git rev-parse HEAD), $(go version), GOFIPS140=$(go env GOFIPS140)"
