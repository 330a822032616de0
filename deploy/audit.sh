#!/bin/sh
# One audit of a ledger on the auditor's host: export, check, and the battery on the outcomes of a period, last month
# unless the argument names another. Each result is kept in a directory of its own under KEEP (docs/AUDIT.md section 8).
#
# CONFIG is a configuration with the database, POLICY the policy that the auditor trusts. AUDITOR_KEY and
# PASSPHRASE_FILE are for sealed tapes. LEDGER is main if it is not set.
set -eu
period=${1:-$(date -u -d "$(date -u +%Y-%m-01) -1 day" +%Y-%m)}
bundle=$KEEP/${LEDGER:-main}-bundle
run=$KEEP/$(date -u +%Y-%m-%dT%H%M%SZ)
mkdir -p "$run/battery"

# step NAME FILE COMMAND… keeps what a command says in FILE, its errors in FILE.err, and its exit code in the summary.
step() {
	name=$1 file=$2 code=0
	shift 2
	"$@" >"$file" 2>"$file.err" || code=$?
	echo "$name: exit code $code" | tee -a "$run/summary.txt"
	if [ -s "$file.err" ]; then cat "$file.err" >&2; else rm "$file.err"; fi
}

step export "$run/export.txt" shuffled audit export --config "$CONFIG" --ledger "${LEDGER:-main}" \
	--from "$period" --to "$period" --out "$bundle"
[ "$code" = 0 ] || exit "$code"

set -- --policy "$POLICY" --from "$period" --to "$period" --json --html "$run/report.html" --outcomes "$run/outcomes"
[ ! -e "$KEEP/checkpoint" ] || set -- "$@" --since "$KEEP/checkpoint"
[ -z "${AUDITOR_KEY:-}" ] || set -- "$@" --auditor-key "$AUDITOR_KEY"
[ -z "${PASSPHRASE_FILE:-}" ] || set -- "$@" --passphrase-file "$PASSPHRASE_FILE"
step verify "$run/verify.json" shuffled audit verify "$bundle" "$@"
[ "$code" = 0 ] || exit "$code"
cp "$bundle/checkpoint" "$run/checkpoint"
cp "$bundle/checkpoint" "$KEEP/checkpoint.new"
mv "$KEEP/checkpoint.new" "$KEEP/checkpoint" # the next --since

worst=0
for outcomes in "$run"/outcomes/*.bin; do
	[ -e "$outcomes" ] || continue
	kind=$(basename "$outcomes" .bin)
	step "battery $kind" "$run/battery/$kind.json" shuffled lab battery --json --from "$outcomes"
	case $code in
	0 | 2) ;; # 2: there is no test for this kind, and FILE.err says why
	3) grep -q 'sample too small' "$file.err" || [ "$worst" = 1 ] || worst=3 ;; # such as a borderline sample
	*) worst=1 ;;
	esac
done
exit "$worst"
