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
	must(t, err)
	y.replaces("postgres://shuffled_reader@db/shuffled", "'"+d.database+"'", "https://shuffle.example.com", d.url,
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
	ID := contents(t, filepath.Join(y.work, "first"))
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
	must(t, termtest.Build(programs, "shuffled", "shuffled-lab", "shuffled-bench"))
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
	y.must(`touch audit.toml; printf 'log %s\nquorum none\n' "$(cat bench-data/main.vkey)" > our.policy`)
	script, err := filepath.Abs("../../deploy/audit.sh")
	must(t, err)
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

// afterwards types what other chapters do with a house that is installed: acts, audits with the
// witness, retention, and what follows a lost token, a lost mark and a lost tail.
func (i *installation) afterwards() {
	i.t.Helper()
	const run, keys, audit, backup = "docs/operations/run.md", "docs/operations/keys.md", "docs/AUDIT.md",
		"docs/operations/backup.md"
	i.env = append(i.env, "SHUFFLED_URL="+i.url)
	i.replaces("https://shuffle.example.com", i.url, "https://witness.example.org", "http://"+i.at,
		"postgres://shuffled_reader@db/shuffled", i.replace.Replace("postgres://postgres@db.example.com/shuffled"),
		"/srv/mirror", filepath.Join(i.work, "mirror"))
	i.must(i.replace.Replace(`
cp /etc/shuffled/*.token /etc/shuffled/main.vkey /etc/shuffled/witnesses.policy . && cp witnesses.policy our.policy
mkdir last-audit && curl -s "$SHUFFLED_URL/log/main/checkpoint" > last-audit/checkpoint
shuffled token create --url "$SHUFFLED_URL" --token-file admin.token --key main.vkey --role dealer \
  --identity rescue > rescue.token
chmod 0600 rescue.token
sed 's/^group .*/group one 1 w1/; s/^quorum .*/quorum one/' witnesses.policy > new.policy`))
	hand := func(table string) string {
		return strings.TrimSpace(i.must("shuffled shuffle --table " + table +
			" --deck standard-52 --token-file dealer.token --key main.vkey --quiet"))
	}
	if said := i.block(run, "shuffled act do takeover", "41", hand("table-2")); !strings.Contains(said, "rescue") {
		i.t.Errorf("%s", said)
	}
	i.block(keys, "shuffled act do policy")
	i.must("shuffled kill set --deck short-36 --reason misprinted --token-file admin.token --key main.vkey\n" +
		"shuffled kill set --table poker-7 --reason 'camera fault' --token-file admin.token --key main.vkey")
	said := i.block(run, "shuffled act do kill_clear")
	if !strings.Contains(said, "It is done: clear the kill switch of") {
		i.t.Errorf("%s", said)
	}
	const again = "--key main.vkey\nshuffled act do kill_clear"
	said = i.block(keys, "shuffled act do kill_clear", again, strings.Replace(again, "\n", "\n! ", 1))
	if !strings.Contains(said, "The act waits for 1h0m0s") || !strings.Contains(said, "again at ") {
		i.t.Errorf("%s", said)
	}
	i.block(audit, "curl -s https://w1.regulator.example.org")
	if said := i.block(audit, "shuffled audit fsck"); !strings.Contains(said, "PROVED") {
		i.t.Errorf("%s", said)
	}
	i.block("docs/operations/load.md", "shuffled audit export")
	i.must("test -s mirror/log/main/checkpoint")
	i.must("sed -i 's/^access_retention = .*/access_retention = \"1h\"/' " + filepath.Join(i.dir, "owner/owner.toml"))
	if said := i.block(run, "shuffled retention run"); !strings.Contains(said, "kept for 1h") {
		i.t.Errorf("%s", said)
	}
	i.daemon.stop()
	lost, _, _ := strings.Cut(i.must("cat admin.token"), ".")
	if said := i.block(keys, "shuffled token list", "tok_7h3k2m5n6p4q2r3s", lost); !strings.Contains(said,
		"It is done: create the admin's credential") {
		i.t.Errorf("%s", said)
	}
	if err := os.Remove(filepath.Join(i.data, "main.mark")); err != nil { // the witness vouches for the head
		i.t.Fatal(err)
	}
	i.daemon.dir = i.work
	i.launch("http://"+i.operator, i.arguments(i.replace.Replace("shuffled serve --config /etc/shuffled/shuffled.toml")))
	i.must("shuffled table open table-3 --token-file admin-2.token --key main.vkey")
	i.daemon.stop()
	if said := i.block(backup, "curl -s https://witness.example.org"); !strings.Contains(said, "main-2") {
		i.t.Errorf("%s", said)
	}
}
