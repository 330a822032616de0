#!/bin/sh
# Finds what the third verifier (test/third) needs: Python 3.9 or newer with the module
# cryptography. If it is missing, installs Debian's packages if that is possible without
# asking (root, apt-get); otherwise says what to install and fails. SHUFFLED_INSTALL=no:
# never install.
set -eu
found() {
	for name in python3 /usr/bin/python3; do
		if command -v "$name" >/dev/null &&
			"$name" -c 'import sys, cryptography; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
			python=$name
			return
		fi
	done
	return 1
}
if ! found && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
	echo "third verifier: installing Debian's python3-cryptography"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null || echo "apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends python3 python3-cryptography </dev/null || true
fi
if ! found; then
	echo "third verifier: it needs Python 3.9 or newer with the module cryptography;" \
		"on Debian: apt-get install python3-cryptography" >&2
	exit 1
fi
version=$("$python" -c 'import cryptography; print(cryptography.__version__)')
echo "third verifier: $("$python" --version), cryptography $version"
