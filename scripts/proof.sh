#!/bin/sh
# Checks the proof in proof/ by machine, and builds the program that is extracted from
# it: sh scripts/proof.sh FILE, where FILE is the program to write.
#
# Needs coqc, the compiler of Coq 8.16 or newer, and ocamlopt. If they are missing,
# installs Debian's package coq if that is possible without asking (root, apt-get);
# otherwise says what to install and fails. SHUFFLED_INSTALL=no: never install.
set -eu

program=${1:?usage: sh scripts/proof.sh FILE}
source=$(dirname "$0")/../proof

# The files, each after those that it needs.
files='Lanes Orders Exact Sparse Mix Legal Tape RunOut Assumptions Extract'

fail() {
	echo "proof: $*" >&2
	exit 1
}

have() {
	command -v coqc >/dev/null && command -v ocamlopt >/dev/null
}

if ! have && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${SHUFFLED_INSTALL-yes}" != no ]; then
	echo "proof: no coqc or no ocamlopt found; installing Debian's package coq"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null || echo "proof: apt-get update failed; trying with the lists available" >&2
	apt-get install -q -y --no-install-recommends coq ocaml-nox </dev/null || echo "proof: the installation failed" >&2
fi
have || fail "coqc and ocamlopt are needed. Install: sudo apt-get install coq (or brew install coq, dnf install coq)"
coqc --version | head -n 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source"/*.v "$source"/*.ml "$work"
cd "$work"

# Every file of the proof is compiled, and none has an assumption.
for file in *.v; do
	case " $files " in
	*" ${file%.v} "*) ;;
	*) fail "$file is not in the list of scripts/proof.sh, so that nobody would check it" ;;
	esac
done
taken='Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|bypass_check|Unset +[A-Za-z ]*Checking|Type-in-Type'
if grep -nwE "$taken" ./*.v; then
	fail "a file has an admitted goal, an axiom or a check that is switched off"
fi
for file in $files; do
	coqc -q "$file.v" >"$file.out" || fail "$file.v does not compile"
done

# Coq prints what each theorem rests on; the lists are compared, so that it does so for all.
for file in $files; do
	sed -nE "s/^Theorem ([A-Za-z0-9_']+).*/$file.\1/p" "$file.v"
done | sort >stated
sed -nE 's/^Print Assumptions (.*)\.$/\1/p' Assumptions.v | sort >asked
[ -s stated ] || fail "no theorem was found"
diff stated asked || fail "the theorems of the files and of Assumptions.v differ"
if grep -vx 'Closed under the global context' Assumptions.out; then
	fail "a theorem rests on an assumption"
fi
[ "$(wc -l <Assumptions.out)" -eq "$(wc -l <stated)" ] || fail "Coq did not answer for every theorem"
echo "proof: $(wc -l <stated) theorems, each closed under the global context"

ocamlopt -w -a -o recipe recipe.mli recipe.ml legal.mli legal.ml recipe_main.ml
cd - >/dev/null
mkdir -p "$(dirname "$program")"
cp "$work/recipe" "$program"
