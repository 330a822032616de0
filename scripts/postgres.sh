#!/bin/sh
# Finds PostgreSQL's server programs for the tests, in the order in which
# internal/testdb looks for them. If there are none, installs Debian's package
# if that is possible without asking (root, apt-get); otherwise says what to
# install and fails. SHUFFLED_INSTALL=no: never install.
#
# The tests start private servers, so an installation needs no default cluster: none is
# created and none is started.
set -eu

# server DIR: does DIR hold everything a private server needs?
server() {
	[ -x "$1/initdb" ] && [ -x "$1/postgres" ] && [ -x "$1/pg_ctl" ]
}

# find_server prints the first such directory. It runs in a subshell.
find_server() (
	IFS=:
	for dir in $PATH; do
		if server "$dir"; then
			echo "$dir"
			return
		fi
	done
	unset IFS
	if dir=$(pg_config --bindir 2>/dev/null) && server "$dir"; then
		echo "$dir"
		return
	fi
	# Newest first: the fifth field of /usr/lib/postgresql/15/bin, as a number.
	for dir in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -t/ -k5,5nr); do
		if server "$dir"; then
			echo "$dir"
			return
		fi
	done
	return 1
)

found() {
	echo "PostgreSQL: $("$1/postgres" --version) in $1"
	exit 0
}

# advice prints the command that installs the server here.
advice() {
	if command -v apt-get >/dev/null; then
		echo "    sudo apt-get install postgresql"
	elif command -v dnf >/dev/null; then
		echo "    sudo dnf install postgresql-server postgresql-contrib"
	elif command -v apk >/dev/null; then
		echo "    sudo apk add postgresql postgresql-contrib"
	elif command -v pacman >/dev/null; then
		echo "    sudo pacman -S postgresql"
	elif command -v brew >/dev/null; then
		echo "    brew install postgresql@17   and add its bin directory to PATH"
	else
		echo "    the PostgreSQL server, version 13 or newer, with initdb, postgres and pg_ctl in PATH"
	fi
}

# install_debian installs the server without its default cluster, which
# postgresql-common would otherwise create and start.
install_debian() {
	drop_in=/etc/postgresql-common/createcluster.d/shuffled-tests.conf
	trap 'rm -f "$drop_in"' EXIT
	mkdir -p "${drop_in%/*}" && echo 'create_main_cluster = false' >"$drop_in" || return
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null || echo "PostgreSQL: apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends postgresql </dev/null
}

if dir=$(find_server); then
	found "$dir"
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
	echo "PostgreSQL: no server programs found; installing Debian's package"
	install_debian || echo "PostgreSQL: the installation failed" >&2
	if dir=$(find_server); then
		found "$dir"
	fi
fi
{
	echo "PostgreSQL: no server programs found in PATH, pg_config --bindir or /usr/lib/postgresql/*/bin."
	echo "The tests need them. Install:"
	advice
} >&2
exit 1
