#!/bin/sh
# Prints the version of the source: that of the first heading of CHANGELOG.md if the commit
# has the tag of this version (v1.0.0), and otherwise that version with the number of commits
# since then and the commit: 1.0.0+284.76633c3d01b2. Without a tag they are counted from the
# commit that wrote the heading. An unpacked archive has no git: COMMIT names the commit.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n '/^## /{s/^## \([0-9][^ ]*\).*/\1/p;q;}' CHANGELOG.md)
if [ ! -e .git ]; then
	echo "${version:-0.0.0-dev}+$(printf %.12s "${COMMIT:-unknown}")"
	exit
fi
short=$(git rev-parse --short=12 HEAD)
if [ -z "$version" ]; then
	echo "0.0.0-dev+$short"
elif ! git tag --points-at HEAD | grep -qxF "v$version"; then
	since=$(git rev-parse -q --verify "refs/tags/v$version^{commit}") ||
		since=$(git log --format=%H -S "## $version " -- CHANGELOG.md | tail -n 1)
	echo "$version+$(git rev-list --count "${since:+$since..}HEAD").$short"
else
	echo "$version"
fi
