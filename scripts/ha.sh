#!/bin/sh
# Finds the programs of test/ha: Patroni, etcd, HAProxy, PgBouncer and PostgreSQL. If
# something is missing, installs Debian's packages if that is possible without asking (root,
# apt-get), and starts none of their services; otherwise says what to install and fails.
# SHUFFLED_INSTALL=no: never install.
set -eu
cd "$(dirname "$0")/.."
sh scripts/postgres.sh
PATH=$PATH:/usr/sbin
found() {
	for name in patroni patronictl etcd haproxy pgbouncer; do
		command -v "$name" >/dev/null || return
	done
}
if ! found && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
	echo "high availability: installing Debian's packages"
	export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 # in this run level no service is started
	apt-get update -q </dev/null || echo "apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends \
		patroni python3-etcd etcd-server haproxy pgbouncer </dev/null || true
fi
if ! found; then
	echo "high availability: the tests need patroni, patronictl, etcd, haproxy and pgbouncer;" \
		"on Debian: apt-get install patroni python3-etcd etcd-server haproxy pgbouncer" >&2
	exit 1
fi
patroni --version
