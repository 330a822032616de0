package golden

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect"
	"shuffled/internal/verify"
)

// The origins of the ledgers. The first label of an origin is the name of the ledger's directory.
const (
	houseOrigin   = "house.example/main"
	labOrigin     = "lab.example/orders"
	sandboxOrigin = "sandbox.example/main"
	lateOrigin    = "late.example/main"
)

// file is a vector of docs/SPEC.md appendix A, like those of internal/verify/testdata/vectors.
type file struct {
	Name  string         `json:"name"`
	About string         `json:"about"`
	Trust pinned         `json:"trust"`
	File  string         `json:"file"`
	Want  map[string]any `json:"want"`
}

type pinned struct {
	VKey     string   `json:"vkey,omitempty"`
	Policy   string   `json:"policy,omitempty"`
	Slots    [][]byte `json:"slots,omitempty"`
	Auditors []string `json:"auditors,omitempty"`
	CoDealer string   `json:"co_dealer,omitempty"`
	History  string   `json:"history,omitempty"`
}

// story plays the ledgers, and collects the files that come of it.
type story struct {
	*world
	files    []file
	tickets  []ticket
	auditor  note.Signer // the key that signs statements
	auditors []string
	coDealer string // the co-dealer's policy
}

// ticket is the proof of a ticket, in the form of internal/terms/testdata/terms.json.
type ticket struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Want string `json:"want"`
}

// add judges a file, and keeps it with the verdict. Every file of an honest house must be proved,
// except the file of a lost tape.
func (s *story) add(name, about, text string, by pinned) {
	s.t.Helper()
	t := verify.Trust{VKey: by.VKey, Auditors: by.Auditors}
	for _, v := range by.Slots {
		t.Slots = append(t.Slots, [32]byte(v))
	}
	for text, to := range map[string]*[]byte{by.Policy: &t.Policy, by.CoDealer: &t.CoDealer, by.History: &t.History} {
		if text != "" {
			*to = []byte(text)
		}
	}
	if slices.ContainsFunc(s.files, func(f file) bool { return f.Name == name }) {
		s.t.Fatalf("two files are called %s", name)
	}
	v := verify.File([]byte(text), t)
	if (v.Verdict != verify.Proved) != strings.HasSuffix(name, "tape-lost") {
		s.t.Fatalf("%s: %s at %s: %+v", name, v.Verdict, v.Failed, v.Steps)
	}
	s.files = append(s.files, file{name, about, by, text, found(s.t, v)})
}

// found returns the members of a verdict that a vector has.
func found(t *testing.T, v *verify.Verdict) map[string]any {
	t.Helper()
	var all map[string]any
	raw, err := json.Marshal(v)
	must(t, err)
	must(t, json.Unmarshal(raw, &all))
	want := map[string]any{}
	for _, name := range []string{"verdict", "level", "failed", "witnesses", "late", "overlap", "mixed", "terms",
		"statements", "blind", "not_blind", "dealt_on", "not_dealt_on", "key_in_force"} {
		if all[name] != nil {
			want[name] = all[name]
		}
	}
	var labels []string
	var shows []uint32
	for _, c := range v.Cards {
		if c.Label != "" {
			labels = append(labels, c.Label)
		}
		shows = append(shows, c.Shows)
	}
	if labels != nil {
		want["labels"] = labels
	}
	if v.Terms != nil && v.Terms.Kind == "ticket_list" {
		want["shows"] = shows
	}
	beacon := func(s verify.Step) bool { return s.Name == "beacon" && s.Result == verify.StepOK }
	if slices.ContainsFunc(v.Steps, beacon) {
		without := maps.Clone(want)
		delete(without, "mixed")
		without["level"] = verify.LevelWitnessed
		if v.Level == verify.LevelMixed && v.Terms != nil && v.Terms.Kind == "ticket_list" {
			of := maps.Clone(without["terms"].(map[string]any))
			of["house_could_choose"] = true
			without["terms"] = of
		}
		want["without_bls"] = without
	}
	return want
}

// file keeps the transcript of a shuffle, once for each view.
func (s *story) file(d *daemon, id uint64, name, about string, views ...api.View) {
	s.t.Helper()
	for _, v := range views {
		b, err := d.Transcript(s.t.Context(), id, v)
		must(s.t, err)
		as := d.name() + "-" + name
		switch {
		case v.Recipient != "":
			as += "-" + v.Recipient
		case v.Auditor:
			as += "-auditor"
		}
		by := pinned{Policy: d.trusted(), Auditors: s.auditors}
		if strings.HasPrefix(name, "blind") {
			by.CoDealer = s.coDealer
		}
		s.add(as, about, string(b), by)
	}
}

// slots keeps the transcript of a shuffle for the players whose slot values these are.
func (s *story) slots(d *daemon, id uint64, name, about string, values [][32]byte) {
	b, err := d.Transcript(s.t.Context(), id, api.View{})
	must(s.t, err)
	by := pinned{Policy: d.trusted()}
	for _, v := range values {
		by.Slots = append(by.Slots, v[:])
	}
	s.add(d.name()+"-"+name, about, string(b), by)
}

// state keeps the auditor's signed statement that the order of a closed shuffle is right.
func (s *story) state(d *daemon, id uint64) {
	said := openings.Statement{Origin: d.origin, ID: id}
	for row, err := range d.db.Rows(s.t.Context(), d.ledger.ID(), 0, audit.MaxInteger) {
		must(s.t, err)
		switch {
		case row.Index == id:
			said.Commit = tlog.RecordHash(row.Entry)
		case row.Type == audit.TypeClose && row.Shuffle == id:
			said.Disclosed = tlog.RecordHash(row.Entry)
		}
	}
	text, err := said.Sign(s.auditor)
	must(s.t, err)
	n, err := d.AddStatement(s.t.Context(), id, string(text))
	did(d, n, err)
}

// receipts keeps the receipt of the newest entry of each type of entry.
func (s *story) receipts(d *daemon) {
	newest := map[audit.Type]uint64{}
	for row, err := range d.db.Rows(s.t.Context(), d.ledger.ID(), 0, audit.MaxInteger) {
		must(s.t, err)
		newest[row.Type] = row.Index
	}
	for _, of := range slices.Sorted(maps.Keys(newest)) {
		text, err := d.ledger.Receipt(s.t.Context(), newest[of])
		must(s.t, err)
		s.add(fmt.Sprintf("%s-receipt-%s", d.name(), of), "the receipt of an entry", text, pinned{Policy: d.trusted()})
	}
}

// TestPlay: every ledger that is played is proved, except the sandbox, which has a shuffle with a
// lost tape. With SHUFFLED_WRITE_GOLDEN=1 the ledgers that testdata/v1 lacks are added to it.
func TestPlay(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	dir := filepath.Join(t.TempDir(), "v1")
	s := &story{world: &world{t: t, clock: new(clock), servers: map[string]string{}, lines: map[string]string{}}}
	due, _ := audit.BeaconTime(audit.Quicknet, beacontest.Newest().Round)
	s.clock.ms.Store((due - 180) * 1000)
	s.play(dir)
	verdicts := map[string]string{"house": inspect.Proved, "lab": inspect.Proved, "sandbox": inspect.Failed,
		"late": inspect.Proved}
	for name, want := range verdicts {
		if r := report(t, filepath.Join(dir, "ledgers", name)); r.Verdict != want {
			t.Errorf("%s: %s, faults %+v", name, r.Verdict, r.Faults)
		}
	}
	if os.Getenv("SHUFFLED_WRITE_GOLDEN") == "" {
		return
	}
	add(t, dir)
	listed := sums(t)
	must(t, os.WriteFile(filepath.Join(root, "SHA256SUMS"), listed, 0o644))
	t.Logf("the constant frozen is to be %q", digest(listed))
}

// add copies the files of a directory to testdata/v1, except those of ledgers that are already there, which must not
// change.
func add(t *testing.T, dir string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(root, "ledgers"), 0o755))
	stands, err := os.ReadDir(filepath.Join(root, "ledgers"))
	must(t, err)
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, one := range stands {
			if strings.HasPrefix(name, "ledgers/"+one.Name()+"/") || strings.HasPrefix(name, "files/"+one.Name()+"-") {
				return nil
			}
		}
		to := filepath.Join(root, name)
		if _, err := os.Stat(to); err == nil && name != "README.md" {
			return nil
		}
		must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		must(t, os.WriteFile(to, read(t, filepath.Join(dir, name)), 0o644))
		return nil
	}))
}

// play begins the ledgers and plays everything.
func (s *story) play(dir string) {
	t := s.t
	house, lab, sandbox := s.newDaemon(houseOrigin), s.newDaemon(labOrigin), s.newDaemon(sandboxOrigin)
	both := append(house.verifiers(), lab.verifiers()...)
	for _, name := range []string{"w1", "w2", "w3", "w4", "w5"} {
		s.witness(name, name == "w4", both...)
	}
	delete(s.servers, "https://w3.witness.example") // two of three cosign
	delete(s.servers, "https://w5.witness.example")
	private, vkey, err := note.GenerateKey(nil, "testlab.example/shuffles")
	must(t, err)
	s.auditor, err = note.NewSigner(private)
	must(t, err)
	s.auditors = []string{vkey}

	g := audit.Genesis{Production: true, Policy: []byte(s.policy("w1", "w2", "w3")), Deals: audit.DealsCosigned,
		Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600,
		AuditorKeys: [][]byte{auditorOf(t, houseOrigin).Public()}}
	house.begin(g)
	g.DefaultCloseBy, g.AuditorKeys = 7200, [][]byte{auditorOf(t, labOrigin).Public()}
	lab.begin(g)
	sandbox.begin(audit.Genesis{Deals: audit.DealsSigned, Disclosure: audit.DisclosureAuditor, DefaultCloseBy: 3600,
		AuditorKeys: [][]byte{auditorOf(t, sandboxOrigin).Public()}})
	for _, d := range []*daemon{house, sandbox} {
		for _, who := range []audit.Actor{cards, second, rescue} {
			d.hire(who, audit.RoleDealer)
		}
		d.hire(operator, audit.RoleAdmin)
	}
	s.mixes(house)
	s.games(house)
	s.continued(house, "")
	s.owners(house)
	s.pair(house, lab)
	s.administer(house)
	s.persons(house)
	s.rotate(house, "w2", "w4", "w5")
	house.start()
	s.continued(house, "-after")
	s.unfinished(house)
	s.receipts(house)

	sealed := sandbox.hand("poker")
	s.state(sandbox, sealed)
	s.file(sandbox, sealed, "stated", "an auditor of a sandbox with a key of P-256 says that the order is right",
		api.View{})
	s.lost(sandbox)
	s.administer(sandbox)
	s.rotate(sandbox)
	sandbox.open.Mark, sandbox.open.AdoptHead = filepath.Join(t.TempDir(), "mark"), "the mark was lost"
	sandbox.start()
	s.receipts(sandbox)
	s.orders(lab)
	s.write(dir, house, lab, sandbox, s.late())
}

// continued keeps the files of shuffles whose undealt cards were shuffled again.
func (s *story) continued(d *daemon, end string) {
	for i, id := range s.chain(d) {
		s.file(d, id, fmt.Sprintf("continued-%d%s", i, end), "a chain of three shuffles", api.View{})
	}
	id := s.chain(d, auditors)[0]
	s.file(d, id, "continued-auditors"+end, "a chain that is disclosed to auditors", api.View{})
}

// unfinished keeps the files of shuffles that stay open.
func (s *story) unfinished(d *daemon) {
	s.file(d, d.commit(deck("undealt")), "undealt", "committed", api.View{})
	id := d.commit(deck("open"))
	d.deal(id, seat(2, "seat-1"))
	s.file(d, id, "open", "dealt, and open", api.View{})
}

// name returns the name of the ledger's directory in testdata/v1/ledgers.
func (d *daemon) name() string {
	name, _, _ := strings.Cut(d.origin, ".")
	return name
}

// write writes the files, the trusted keys and policies, and each report into the directory.
func (s *story) write(dir string, of ...*daemon) {
	t := s.t
	put := func(name, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, f := range s.files {
		put("files/"+f.Name+".json", asJSON(t, f))
	}
	put("README.md", readme)
	put("tickets.json", asJSON(t, map[string]any{"about": "proofs of tickets of the file house-tickets",
		"tickets": s.tickets}))
	for _, d := range of {
		name := d.name()
		d.export(filepath.Join(dir, "ledgers", name, "bundle"))
		put("ledgers/"+name+"/policy", d.trusted())
		put("ledgers/"+name+"/auditor", auditorLine(d.origin)+"\n")
		put("ledgers/"+name+"/report.json", asJSON(t, report(t, filepath.Join(dir, "ledgers", name))))
	}
	put("ledgers/pair.json", asJSON(t, pairReport(t, filepath.Join(dir, "ledgers"))))
}

// orders keeps the files of the orders of a co-dealer that its house named.
func (s *story) orders(lab *daemon) {
	for row, err := range lab.db.Rows(s.t.Context(), lab.ledger.ID(), 0, audit.MaxInteger) {
		must(s.t, err)
		if row.Type == audit.TypeCommit {
			s.file(lab, row.Index, fmt.Sprint("order-", row.Index), "an order for another ledger", api.View{})
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	must(t, e.Encode(v))
	return b.String()
}

// auditorLine returns the line in the file of the private key of a ledger's auditor: a key of P-256 for the sandbox, a
// hybrid key for the other ledgers.
func auditorLine(origin string) string {
	seed := sha256.Sum256([]byte("auditor of " + origin))
	kind := byte(audit.KeyHybrid)
	if origin == sandboxOrigin {
		kind = audit.KeyP256
	}
	return auditorPrefix + base64.StdEncoding.EncodeToString(append([]byte{kind}, seed[:]...))
}

// auditorOf returns the auditor of a ledger.
func auditorOf(t *testing.T, origin string) *disclosure.Auditor {
	return auditor(t, auditorLine(origin))
}

//go:embed readme.md
var readme string
