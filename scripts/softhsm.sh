#!/bin/sh
# Finds SoftHSM, ssh-add and a C compiler for the tests of keys in an HSM. If something is
# missing, installs Debian's packages if that is possible without asking (root, apt-get);
# otherwise says what to install and fails. SHUFFLED_INSTALL=no: never install.
set -eu
found() {
	command -v softhsm2-util >/dev/null && [ -e /usr/lib/softhsm/libsofthsm2.so ] &&
		command -v ssh-add >/dev/null && command -v "$(go env CC)" >/dev/null
}
if ! found && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
	echo "SoftHSM: installing Debian's packages"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null || echo "apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends softhsm2 openssh-client gcc libc6-dev </dev/null || true
fi
if ! found; then
	echo "SoftHSM: the tests need it; on Debian: apt-get install softhsm2 openssh-client gcc libc6-dev" >&2
	exit 1
fi
echo "SoftHSM $(softhsm2-util --version)"
