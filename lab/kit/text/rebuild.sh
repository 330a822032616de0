#!/bin/sh
# Builds the programs of this kit from this kit alone, with empty caches and without a
# registry, and compares the bytes with those that are here:
#
#     sh rebuild.sh
#
# It needs {{.Go}} and plain tools, and writes to a temporary directory only.
set -eu
cd "$(dirname "$0")"
kit=$PWD
here=$(GOTOOLCHAIN=local go env GOVERSION)
if [ "$here" != {{.Go}} ]; then
	echo "rebuild: go here is $here; the programs were built with {{.Go}}" >&2
	exit 2
fi
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/source" "$work/modules"
tar -xf sources.tar -C "$work/source"
tar -xf modules.tar -C "$work/modules"
cd "$work/source"
sha256sum --quiet -c "$kit/sources.sha256"
# Nothing of the user's settings: they could name a registry, or other bytes.
env -i PATH="$PATH" HOME="$work" TMPDIR="$work" GOENV=off GOTOOLCHAIN=local GOSUMDB=off \
	GOPROXY="file://$work/modules" GOMODCACHE="$work/cache" GOCACHE="$work/built" \
	GOOS={{.System}} GOARCH={{.Arch}} GOFIPS140={{.Module}} VERSION={{.Version}} COMMIT={{.Commit}} \
	PROGRAMS='shuffled shuffled-lab' sh scripts/build.sh "$work/bin/shuffled"
for program in shuffled shuffled-lab; do
	sha256sum "$work/bin/$program"
	cmp "$work/bin/$program" "$kit/$program" || differ=$program
done
[ -z "${differ-}" ] || exit 1
echo "rebuilt from this kit alone: both programs have the same bytes"
