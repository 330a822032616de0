package golden

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/bundle"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/follow"
	"shuffled/internal/httpapi"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/recall"
	"shuffled/internal/seal"
	"shuffled/internal/store"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/witness"
)

// clock is the clock of all daemons and witnesses. It stands still until a test moves it.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMilli(c.ms.Load()).UTC() }

func (c *clock) read() (time.Time, time.Duration) {
	return c.now(), time.Duration(c.ms.Load()) * time.Millisecond
}

func (c *clock) move(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// world holds what all ledgers of a run share.
type world struct {
	t       *testing.T
	clock   *clock
	servers map[string]string // the URL of each witness's server, by the address that policies give
	lines   map[string]string // the policy line of each witness, by its name
}

// witness starts a witness of the ledgers with these keys. If long is set, it has a second key, of
// ML-DSA-44, and its line in policies has that key.
func (w *world) witness(name string, long bool, logs ...note.Verifier) {
	w.t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must(w.t, err)
	cfg := witness.Config{Name: name + ".witness.example", Key: key, Dir: w.t.TempDir(), Logs: logs, Now: w.clock.now,
		Log: slog.New(slog.DiscardHandler)}
	if long {
		cfg.Second, err = keys.GenerateMLDSA(cfg.Name)
		must(w.t, err)
	}
	started, err := witness.Open(cfg)
	must(w.t, err)
	server := httptest.NewServer(started)
	w.t.Cleanup(func() { server.Close(); started.Close() })
	vkey, address := started.VKey(), "https://"+name+".witness.example"
	if long {
		vkey = cfg.Second.VKey()
	}
	w.servers[address] = server.URL
	w.lines[name] = fmt.Sprintf("witness %s %s %s\n", name, vkey, address)
}

// policy returns a policy whose quorum is more than half of these witnesses.
func (w *world) policy(names ...string) string {
	text := ""
	for _, name := range names {
		text += w.lines[name]
	}
	return text + fmt.Sprintf("group outside %d %s\nquorum outside\n", len(names)/2+1, strings.Join(names, " "))
}

// daemon is a ledger with its dealer.
type daemon struct {
	*world
	origin  string
	path    string             // the file of the database
	signers []*keys.SigningKey // the first is the key of the genesis
	long    *keys.MLDSAKey
	logs    []string // the verifier keys in force
	outside string   // the witness policy in force
	open    ledger.Config
	cfg     dealer.Config
	ledger  *sequencer.Ledger
	*dealer.Dealer
	admins map[string]note.Signer
	db     *sqlite.Store
}

// operator is the actor of administrative requests.
var operator = audit.Actor{Identity: "root", Credential: "root-1"}

// newDaemon makes the keys of a ledger.
func (w *world) newDaemon(origin string) *daemon {
	w.t.Helper()
	d := &daemon{world: w, origin: origin, admins: map[string]note.Signer{}}
	for range 2 {
		key, err := keys.GenerateSigning(origin)
		must(w.t, err)
		d.signers = append(d.signers, key)
	}
	var err error
	d.long, err = keys.GenerateMLDSA(origin)
	must(w.t, err)
	d.logs = []string{d.signers[0].VKey()}
	return d
}

// verifiers returns the verifiers of all Ed25519 keys that the ledger has or will have. The ML-DSA-44 key is not among
// them: a witness that knew it from the beginning would refuse all checkpoints before the key's entry.
func (d *daemon) verifiers() (all []note.Verifier) {
	for _, vkey := range []string{d.signers[0].VKey(), d.signers[1].VKey()} {
		key, err := audit.ParseVKey(vkey)
		must(d.t, err)
		all = append(all, key)
	}
	return all
}

// begin makes the ledger and opens it. It fills in the genesis: the origin, the keys, in production the
// administrators and their rules, and what is the same for all ledgers.
func (d *daemon) begin(g audit.Genesis) {
	t, w := d.t, d.world
	t.Helper()
	d.path, d.outside = filepath.Join(t.TempDir(), "db"), string(g.Policy)
	must(t, sqlite.MigrateUp(t.Context(), d.path, sqlite.Options{}))
	s, err := sqlite.Open(d.path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	d.db = s
	g.Revision, g.Origin, g.SigningKey = audit.Revision, d.origin, d.signers[0].Public()
	g.MixModes, g.MaxCloseBy, g.Access = 15, 86_400, audit.AccessPublic
	if g.Production {
		for _, name := range []string{"alice", "bob"} {
			key, err := keys.GenerateSigning(name)
			must(t, err)
			d.admins[name] = key.Signer()
			g.Administrators = append(g.Administrators, audit.Administrator{Name: name, Key: key.Public()})
		}
		g.TwoPersons = []audit.Act{audit.ActPolicy, audit.ActSigning, audit.ActKillClear, audit.ActAdministrator,
			audit.ActAdminCredential, audit.ActTakeover, audit.ActTwoPersons, audit.ActCoDealer}
		g.Delay = 3600
	}
	info, mark := ledger.Info{Name: "main", Origin: d.origin}, filepath.Join(t.TempDir(), "mark")
	must(t, sequencer.Create(t.Context(), s, info, &g, d.signers[0].Signer(), mark, w.clock.now()))
	d.open = ledger.Config{Store: s, Info: info, Mark: mark, Start: audit.Event{Name: "1.0.0-rc.2"},
		Clock:   w.clock.read,
		Signers: []note.Signer{d.signers[0].Signer(), d.signers[1].Signer(), d.long.At(0)},
		Witness: func(lines []trust.Witness) (ledger.Witness, error) {
			lines = slices.Clone(lines)
			for i := range lines {
				lines[i].URL = w.servers[lines[i].URL]
			}
			return witness.Reach(lines)
		}}
	source, err := entropy.NewFrom(rand.Reader, entropy.Config{})
	must(t, err)
	key, err := seal.NewKey(keys.GenerateSealing().Bytes())
	must(t, err)
	ring, err := seal.NewKeyring(key)
	must(t, err)
	d.cfg = dealer.Config{Store: s, Entropy: source, Keys: ring, Log: slog.New(slog.DiscardHandler),
		Decks: []string{dealer.AnyDeck},
		Now:   func() int64 { return w.clock.now().UnixMilli() }}
	d.start()
}

// start opens the ledger, after closing it if it was open.
func (d *daemon) start() {
	d.t.Helper()
	if d.ledger != nil {
		must(d.t, d.ledger.Close())
	}
	l, err := sequencer.Open(d.t.Context(), d.open)
	must(d.t, err)
	d.t.Cleanup(func() { l.Close() })
	d.ledger, d.cfg.Ledger = l, l
	d.Dealer = dealer.New(d.cfg)
	d.settle()
}

// serve serves the dealer through the HTTP API, and returns the URL.
func (d *daemon) serve() (url string) {
	d.t.Helper()
	log := slog.New(slog.DiscardHandler)
	api, err := httpapi.New(httpapi.Config{Limits: config.Default().Limits.Sandbox(), Log: log})
	must(d.t, err)
	must(d.t, api.Add(httpapi.Ledger{Dealer: d.Dealer, Log: d.ledger, Access: d.db,
		Recall: recall.New(d.ledger, d.db, 0, d.clock.now),
		Events: follow.New(follow.Config{Ledger: d.ledger, Tables: d.Dealer.Shuffles(), Now: d.clock.now, Log: log})}))
	api.Ready()
	server := httptest.NewServer(api)
	d.t.Cleanup(server.Close)
	return server.URL
}

// trusted returns the policy that a verifier of this ledger must trust now.
func (d *daemon) trusted() string {
	text := ""
	for _, key := range d.logs {
		text += "log " + key + "\n"
	}
	if d.outside == "" {
		return text + "quorum none\n"
	}
	return text + d.outside
}

// ctx returns a context for requests that a co-dealer takes part in. It gives their first try the time of the test's
// clock, because the co-dealer's answers have that time, which is before the time of the host's clock.
func (d *daemon) ctx() context.Context { return client.FirstTried(d.t.Context(), d.clock.now()) }

// settle waits until the witnesses have cosigned everything, and then moves the clock by a second.
func (d *daemon) settle() {
	d.t.Helper()
	if len(d.ledger.Genesis().Policy) > 0 {
		must(d.t, d.ledger.AwaitCosigned(d.t.Context(), d.ledger.Head().Size-1))
	}
	d.clock.move(time.Second)
}

// did checks that a command had no error, and settles.
func did[T any](d *daemon, answer T, err error) T {
	d.t.Helper()
	must(d.t, err)
	d.settle()
	return answer
}

// append writes an entry of this actor.
func (d *daemon) append(who audit.Actor, b audit.Body) {
	d.t.Helper()
	a, err := d.ledger.Append(d.t.Context(), ledger.Proposal{Actor: who, Bodies: []audit.Body{b}})
	did(d, a, err)
}

// hire makes a credential for an actor, and returns its token.
func (d *daemon) hire(who audit.Actor, role audit.Role) (token string) {
	d.t.Helper()
	id, bearer := keys.NewToken()
	_, secret, _ := keys.SplitToken(string(bearer.Bytes()))
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: who.Credential, Form: audit.FormToken, Role: role,
		Identity: who.Identity}
	if c.ID == "" {
		c.ID = id
	}
	c.Digest = c.Opens(keys.HashToken(secret))
	if role == audit.RoleAdmin && len(d.admins) > 0 {
		d.approved(audit.Operator, c, "alice", "bob")
	} else {
		d.append(audit.Operator, c)
	}
	return string(bearer.Bytes())
}

// act returns an act, signed by these administrators, that approves what an identity will write.
func (d *daemon) act(identity string, body audit.Body, by ...string) *audit.ActEntry {
	d.t.Helper()
	p, err := d.ledger.Persons(d.t.Context())
	must(d.t, err)
	act, ok := audit.ActFor(body)
	if !ok {
		d.t.Fatalf("no act approves a %T", body)
	}
	a := &audit.ActEntry{Act: act, Digest: audit.Approved(identity, body), Previous: p.Newest, HeadSize: p.Head.Size,
		HeadRoot: p.Head.Root, Expires: d.clock.now().Add(6 * time.Hour).UnixMilli()}
	for _, name := range by {
		d.sign(a, name)
	}
	return a
}

func (d *daemon) sign(a *audit.ActEntry, name string) {
	d.t.Helper()
	raw, err := d.admins[name].Sign(a.Signed(d.ledger.GenesisHash()))
	must(d.t, err)
	a.Signatures = append(a.Signatures, audit.ActSignature{Administrator: name, Signature: [64]byte(raw)})
}

// approved submits an entry with the act by which these administrators approve it.
func (d *daemon) approved(who audit.Actor, body audit.Body, by ...string) {
	d.t.Helper()
	recorded, err := d.SubmitAct(d.t.Context(), who, d.act(who.Identity, body, by...), body)
	did(d, recorded, err)
}

// export writes the ledger's bundle.
func (d *daemon) export(dir string) {
	d.t.Helper()
	evidence, err := sqlite.OpenEvidence(d.path, sqlite.Options{})
	must(d.t, err)
	defer evidence.Close()
	_, err = bundle.Export(d.t.Context(), store.Export{Evidence: evidence, ID: ledger.IDOf(d.origin)}, dir,
		bundle.Options{Origin: d.origin, Now: d.clock.now})
	must(d.t, err)
}
