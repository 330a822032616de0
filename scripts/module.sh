#!/bin/sh
# Gives the module another path, from which others can import the client:
#
#     sh scripts/module.sh github.com/OWNER/shuffled
#
# Modules, imports, generated files, build flags and documents of the nested modules are renamed
# with it. Labels of formats such as shuffled/v1, which are part of evidence, stay the same.
set -eu
path=${1:?module.sh: which path? such as github.com/OWNER/shuffled}
case $path in
*[!A-Za-z0-9._~/-]* | */ | /* | *//*) echo "module: $path is no module path" >&2; exit 2 ;;
*.*/*) ;;
*) echo "module: the first element of $path needs a dot, as in example.com/shuffled" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
old=$(sed -n 's/^module //p' go.mod)
export old path
find . -name .git -prune -o -name node_modules -prune -o -type f \( -name '*.go' -o -name go.mod -o -name '*.md' \
	-o -name '*.tmpl' -o -name '*.sh' -o -name '*.txtar' -o -name Makefile \) -print0 |
	xargs -0 perl -pi -e '
		my $in = "client|cmd|configs|deploy|internal|lab|migrations|perf|test|tools|web";
		s{(?<![\w./-])\Q$ENV{old}\E/(?=(?:$in)(?![\w-]))}{$ENV{path}/}g;
		s{"\Q$ENV{old}\E/"}{"$ENV{path}/"}g if $ARGV =~ /\.go$/;
		s{"\Q$ENV{old}\E/(?!v\d)}{"$ENV{path}/}g if $ARGV =~ m{internal/arrows/};
		s{"\Q$ENV{old}\E"}{"$ENV{path}"}g if m{// the module\x27s path$};
		s{^(module |replace |\t)\Q$ENV{old}\E(?= |$)}{$1$ENV{path}} if $ARGV =~ /go\.mod$/;
	'
find . -name .git -prune -o -name '*.go' -print0 | xargs -0 gofmt -w
