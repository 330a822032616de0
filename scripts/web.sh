#!/bin/sh
# Finds what the tests of the second implementation need: Node 20 or newer, npm, and
# Chromium. If something is missing, installs Debian's packages if that is possible
# without asking (root, apt-get); otherwise says what to install and fails.
# SHUFFLED_INSTALL=no: never install. The dependencies of the npm package come from
# the registry, into its own directory.
set -eu

node() {
	[ "$(command node -p 'Number(process.versions.node.split(".")[0])' 2>/dev/null || echo 0)" -ge 20 ]
}

browser() {
	for name in chromium chromium-browser google-chrome; do
		if command -v "$name"; then
			return
		fi
	done
	return 1
}

install() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ] || return
	echo "second implementation: installing Debian's $*"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null || echo "apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends "$@" </dev/null
}

node || install nodejs || true
command -v npm >/dev/null || install npm || true
browser >/dev/null || install chromium || true
missing=
node || missing="$missing Node 20 or newer (nodejs),"
command -v npm >/dev/null || missing="$missing npm,"
browser >/dev/null || missing="$missing Chromium (chromium or google-chrome in PATH),"
if [ -n "$missing" ]; then
	echo "second implementation: its tests need$missing and did not find it." >&2
	exit 1
fi
package=$(dirname "$0")/../client/typescript
if ! [ "$package/node_modules/.package-lock.json" -nt "$package/package-lock.json" ]; then # npm writes it last
	npm --prefix "$package" ci --ignore-scripts --no-audit --no-fund
fi
echo "second implementation: Node $(command node --version), $(browser)"
