package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
)

// thisMonth are the flags of a period with what was dealt just now.
func thisMonth() string {
	now := time.Now().UTC()
	return "--from " + now.Format("2006-01") + " --to " + now.Add(time.Hour).Format("2006-01")
}

// TestTypeAudit types docs/AUDIT.md for the ledgers of a sandbox that deals blind, on
// PostgreSQL. What asks a witness is TestInstall's.
func TestTypeAudit(t *testing.T) {
	t.Parallel()
	const document = "docs/AUDIT.md"
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the document uses jq, which is not here")
	}
	y := newTypist(t)
	d := newDaemon(t, testdb.DSN(t))
	d.data = filepath.Join(y.work, "shuffled-data")
	d.start("--co-dealer")
	y.env = append(y.env, "URL="+d.url, "AUDITOR_TOKEN="+d.token("auditor.token"))
	source, err := filepath.Abs("../../tools/cose")
	if err != nil {
		t.Fatal(err)
	}
	y.replaces("postgres://shuffled_reader@db/main", "'"+d.database+"'", "https://shuffle.example.com", d.url,
		"-C tools/cose", "-C "+source, "-o /usr/local/bin/", "-o "+y.work+"/",
		"shuffled-cose -policy", "./shuffled-cose -policy",
		"--from 2026-11 --to 2026-11", thisMonth())
	y.must(`
export SHUFFLED_URL=$URL CLIENT="--token-file dealer.token --key main.vkey"
cp shuffled-data/main.vkey shuffled-data/auditor.key shuffled-data/dealer.token .
hand() {
  HAND=$(shuffled shuffle --table "$1" --deck standard-52 "$2" $CLIENT --quiet)
  shuffled deal "$HAND" --first 0 --run 2:seat:seat-1 --close completed $CLIENT >&2
}
hand table-1 --disclosure=auditor && FIRST=$HAND
mkdir last-audit && curl -s "$URL/log/main/checkpoint" > last-audit/checkpoint
curl -sf "$URL/v1/main/shuffles" -H "Authorization: Bearer $(cat dealer.token)" -H 'Idempotency-Key: blind-1' \
  -H 'Content-Type: application/json' -d '{"table":"table-2","deck":"standard-52","mix":{"co_dealer":true}}' >&2
shuffled deal @table-2 --first 0 --run 2:seat:seat-1 --close completed $CLIENT >&2
shuffled show "$FIRST" --transcript hand.json --key main.vkey >&2
for name in main co-dealer; do
  printf 'log %s\nquorum none\n' "$(cat shuffled-data/$name.vkey)" > "$name.policy"
done
cp main.policy our.policy && cp co-dealer.policy lab.policy
printf %s "$FIRST" > first`)
	ID, err := os.ReadFile(filepath.Join(y.work, "first"))
	if err != nil {
		t.Fatal(err)
	}
	y.block(document, "shuffled audit export")
	proved := func(said string) {
		t.Helper()
		if !strings.Contains(said, "PROVED") {
			t.Errorf("%s", said)
		}
	}
	proved(y.block(document, "shuffled audit verify main-bundle --policy"))
	proved(y.block(document, "shuffled audit verify --outcome void"))
	y.must("shuffled audit export --database '" + d.database + "' --ledger co-dealer --out lab-bundle")
	proved(y.block(document, "shuffled audit verify main-bundle lab-bundle"))
	bundle, err := filepath.Glob(filepath.Join(y.work, "main-bundle/tile/entries/000.p/*"))
	if err != nil || len(bundle) == 0 {
		t.Fatal(bundle, err)
	}
	said := y.block(document, "cp -r main-bundle copy", "000.p/17", "000.p/"+filepath.Base(bundle[0]),
		"shuffled audit verify copy --key main.vkey", "! shuffled audit verify copy --key main.vkey")
	if !strings.Contains(said, "entry") {
		t.Errorf("%s", said)
	}
	proved(y.block(document, "shuffled verify hand.json --policy our.policy --explain"))
	proved(y.block(document, "shuffled key generate signing", "1234", string(ID)))
	y.block(document, "CGO_ENABLED=0")
	y.must("test -s entry.cose && test -s entry.bin")
}

// TestTypeBlind types docs/operations/blind.md.
func TestTypeBlind(t *testing.T) {
	t.Parallel()
	y, at := newTypist(t), testdb.FreeAddress(t)
	y.replaces(strings.TrimPrefix(address, "http://"), at)
	// Who types it waits for the daemon before the next line, and stops it at the end.
	const ready = `8080 >log 2>&1 &
trap 'kill $!; wait' EXIT
until curl -sf http://127.0.0.1:8080/readyz >/dev/null; do kill -0 $!; sleep 0.1; done
`
	said := y.block("docs/operations/blind.md", "shuffled serve --dev --co-dealer", "8080 &\n", ready)
	for _, want := range []string{"co_dealer", "PROVED", "by its order", "Deal from it: shuffled deal",
		"places 0 to 1 dealt"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in: %s", want, said)
		}
	}
}

// TestTypeLab types docs/LAB.md and docs/SIZING.md, with samples and times that are small:
// the verdicts on samples of the documents' sizes are the lab's own tests.
func TestTypeLab(t *testing.T) {
	t.Parallel()
	programs := t.TempDir()
	if err := termtest.Build(programs, "shuffled", "shuffled-lab", "shuffled-bench"); err != nil {
		t.Fatal(err)
	}
	y := newTypist(t)
	y.env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
	const document = "docs/LAB.md"
	y.must("shuffled key generate auditor --out auditor.key; seq 60 > my-deck.txt")
	y.replaces("1000000000", "1000000", "10000000", "20000", "1000000", "20000")
	y.block(document, "shuffled lab raw")
	y.block(document, "shuffled selftest\n")
	d := newDaemon(t, testdb.DSN(t))
	d.data = filepath.Join(y.work, "bench-data")
	y.env = append(y.env, "SHUFFLED_URL="+d.url)
	const sizing = "docs/SIZING.md"
	month := time.Now().UTC().Format("2006-01")
	serve, bench, _ := strings.Cut(y.text(sizing, "shuffled serve --dev",
		"postgres://…", "'"+d.database+"' --listen "+d.addr, "--duration 1m", "--duration 1s",
		"--connections 64", "--connections 4"), "\n")
	d.launchIn(y.work, d.url+"/readyz", y.arguments(serve))
	if said := y.must(bench); !strings.Contains(said, "hand") {
		t.Errorf("%s", said)
	}
	y.block(document, "shuffled audit export",
		"--out ./main-bundle ...", "--out ./main-bundle --data bench-data --database '"+d.database+"'",
		"--key main.vkey", "--key bench-data/main.vkey", "--from 2026-11 --to 2026-11", thisMonth())
	y.must("shuffled lab battery --from november/standard-52.bin")
	y.env = append(y.env, "SHUFFLED_DATABASE="+d.database) // it has a password, which a configuration must not have
	y.must(`touch audit.toml; mkdir audits; printf 'log %s\nquorum none\n' "$(cat bench-data/main.vkey)" > our.policy`)
	script, err := filepath.Abs("../../deploy/audit.sh")
	if err != nil {
		t.Fatal(err)
	}
	said := y.block("docs/AUDIT.md", "KEEP=audits", "deploy/audit.sh", script, "2026-11", month)
	for _, want := range []string{"export: exit code 0", "verify: exit code 0", "battery standard-52: exit code 0"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in: %s", want, said)
		}
	}
	y.must("cd audits/2*Z && test -s checkpoint -a -s report.html -a -s verify.json -a -s battery/standard-52.json")
	// The next audit begins at the kept checkpoint, which the ledger must extend, and a failure of it is kept as well.
	said, err = y.try("sleep 1; printf 'x' > audits/checkpoint; KEEP=audits CONFIG=audit.toml POLICY=our.policy sh " + script)
	if err == nil || !strings.Contains(said, "verify: exit code 2") {
		t.Errorf("%v: %s", err, said)
	}
	y.must("grep -q 'must be a signed checkpoint' audits/2*Z/verify.json.err")
}
