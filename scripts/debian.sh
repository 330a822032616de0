#!/bin/sh
# Makes a new Debian with systemd in DIR, for the test that installs the package of a release:
#
#     sh scripts/debian.sh DIR
#
# It needs root, debootstrap and Debian's mirror. It installs debootstrap if there is
# apt-get. If something is missing it says so and fails. SHUFFLED_INSTALL=no: never install.
set -eu
[ $# = 1 ] || { echo 'debian: sh scripts/debian.sh DIR' >&2; exit 2; }
if [ "$(id -u)" != 0 ]; then
	echo "Debian: only root may make one" >&2
	exit 1
fi
if ! command -v debootstrap >/dev/null && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
	echo "Debian: installing debootstrap"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null || echo "apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends debootstrap </dev/null || true
fi
if ! command -v debootstrap >/dev/null; then
	echo "Debian: making one needs debootstrap; on Debian: apt-get install debootstrap" >&2
	exit 1
fi
# Its mounts are in a namespace of its own, and end with it.
unshare --mount debootstrap --variant=minbase --include=systemd,procps bookworm "$1" >"$1.log" 2>&1 ||
	{ tail "$1.log" >&2; exit 1; }
echo "Debian $(cat "$1/etc/debian_version") in $1"
