#!/bin/sh
# Finds Prometheus and promtool for the tests of alerting rules and of the dashboard. If they
# are missing, installs Debian's package if that is possible without asking (root,
# apt-get), and starts no service; otherwise says what to install and fails.
# SHUFFLED_INSTALL=no: never install.
set -eu
found() {
	command -v prometheus >/dev/null && command -v promtool >/dev/null
}
if ! found && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
	echo "Prometheus: installing Debian's package"
	export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 # in this run level no service is started
	apt-get update -q </dev/null || echo "apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends prometheus </dev/null || true
fi
if ! found; then
	echo "Prometheus: the tests need prometheus and promtool in PATH; on Debian: apt-get install prometheus" >&2
	exit 1
fi
promtool --version | head -n 1
