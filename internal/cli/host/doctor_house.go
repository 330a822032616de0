package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/term"
	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
)

// openedKeys are a ledger of the configuration with its signing keys.
type openedKeys struct {
	config  config.Ledger
	origin  string
	signers []note.Signer
}

// databaseCures say what to do about a cause whose error does not say it.
var databaseCures = map[ledger.Cause]string{
	ledger.CauseUnreachable: "start the server, or correct host and port in database; the daemon waits for it",
	ledger.CauseSilent:      "check the server, and the network between this host and the server",
	ledger.CauseStarting:    "wait, or raise max_connections",
	ledger.CauseReadOnly:    "name the primary in database, or promote this server",
	ledger.CauseRefused:     "run passwords.sql as the database's administrator, or correct role and database_password_file",
	ledger.CauseCertificate: "correct sslmode and sslrootcert in database, or renew the server's certificate",
}

// database checks what a daemon does not check at its start: rights, guards, version and clock.
func (d *doctor) database(ctx context.Context, cfg *config.Config) {
	e, err := place.Examine(ctx, cfg)
	if d.failed("database", "run roles.sql as the database's administrator, after every migration", err) {
		return
	}
	const roles = "connect as shuffled_writer, and run roles.sql as the database's administrator, after every migration"
	before := len(d.findings)
	for _, fault := range []struct{ tables, found, cure string }{
		{e.Owns, "the role owns %s, so it could remove the guards of the evidence", roles},
		{e.Changes, "the role may change or remove rows of %s", roles},
		{e.Lacks, "the role cannot use %s", roles},
		{e.Gone, "guards of the evidence are not in force: %s",
			"find out who removed these guards, run shuffled audit fsck, and make the guards again as in migrations/postgres"},
	} {
		if fault.tables != "" {
			d.fail("database", fault.cure, fault.found, fault.tables)
		}
	}
	if e.Number > 0 && e.Number < 130000 {
		d.fail("database", "use PostgreSQL 13 or newer", "the server is PostgreSQL %s", e.Version)
	}
	if e.Citus {
		d.warn("durability", "run SELECT * FROM run_command_on_workers('SHOW synchronous_commit'), and the same for fsync and "+
			"full_page_writes: each must be on", "the server has Citus: the settings of its other nodes were not checked")
	}
	if len(d.findings) == before {
		what := "schema, rights, guards and durability are"
		if e.Number == 0 {
			what = "schema and durability are" // an embedded store knows no roles
		}
		d.ok("database", "%s: %s as they must be", strings.TrimSpace(place.Database(cfg)+" "+e.Version), what)
	}
	if !e.Clock.IsZero() {
		d.clock("clock of the database", e.Clock, 0)
	}
}

// clock compares this host's clock with another clock, whose time is exact to within.
func (d *doctor) clock(check string, other time.Time, within time.Duration) {
	apart := time.Since(other).Round(time.Millisecond)
	if apart.Abs() > d.cfg.ClockStep.Duration()+within {
		d.fail(check, "set the clocks of all hosts from one time service, because entries and cosignatures carry these times",
			"this host's clock and that clock differ by %s, and clock_step is %s", apart, d.cfg.ClockStep.Duration())
		return
	}
	d.ok(check, "this host's clock and that clock differ by %s", apart)
}

// foldAtMost is how many entries doctor reads to find the witnesses, which takes some seconds.
const foldAtMost = 200_000

// ledger checks one ledger: its head, its mark and its witnesses. policy is the file of --policy, "" for none.
func (d *doctor) ledger(ctx context.Context, store store.Database, h openedKeys, policy string) {
	state, ok := d.head(ctx, store, h, policy)
	if !ok {
		return
	}
	var text []byte
	production := true // or a ledger that was not read
	if state != nil {
		text, production = state.Policy(), state.Genesis().Production
		h.signers = h.inForce(state.SigningKeys())
		if keys := state.AuditorKeys(); len(keys) > 0 && keys[0][0] != audit.KeyHybrid {
			d.warn("auditors of "+h.config.Name, "create a new ledger, for which each auditor makes a new key: a ledger cannot change the type of its keys",
				"the auditors' keys are of P-256 alone: if a quantum computer breaks P-256, it opens a copy of the ledger")
		}
	}
	if policy != "" {
		var err error
		if text, err = term.ReadBounded(policy, audit.MaxPolicy); d.failed("policy", "correct --policy", err) {
			return
		}
	}
	d.policy(ctx, h, text, production)
}

// head checks the head and the mark of a ledger, and returns its state. ok is false if nothing more can be checked.
// If the policy is given, the state may be nil: of a ledger that is not created yet, or has too many entries.
func (d *doctor) head(ctx context.Context, store store.Database, h openedKeys, policy string) (_ *audit.State,
	ok bool) {
	check, info := "ledger "+h.config.Name, ledger.Info{Name: h.config.Name, Origin: h.origin}
	head, err := store.Head(ctx, ledger.IDOf(h.origin))
	if errors.Is(err, ledger.ErrNotFound) && policy != "" && place.Taken(ctx, store, info) == nil {
		d.ok(check, "the ledger is not created yet, and no other ledger has its name")
		return nil, true
	}
	if err != nil {
		d.failed(check, "", place.ExplainOpen(ctx, store, err, info))
		return nil, false
	}
	d.ok(check, "%d entries", head.Size)
	if !place.Exists(h.config.Mark) {
		d.warn("mark of "+h.config.Name, "on a new host, copy the mark of the old host, or start the witnesses, whose quorum vouches for the head",
			"there is no high-water mark %s", h.config.Mark)
	}
	if head.Size > foldAtMost {
		if policy == "" {
			d.warn("witnesses of "+h.config.Name, "name the newest policy with --policy; shuffled ledger policy show prints it",
				"the ledger has %d entries, too many to read the policy from", head.Size)
		}
		return nil, policy != ""
	}
	state, _, err := ledger.ReadState(ctx, store, h.config.Name)
	return state, !d.failed(check, "shuffled audit fsck says where the evidence fails", err)
}

// policy checks the policy of a ledger, and each witness in it.
func (d *doctor) policy(ctx context.Context, h openedKeys, text []byte, production bool) {
	check := "policy of " + h.config.Name
	if len(text) == 0 {
		if production {
			d.warn("witnesses of "+h.config.Name, "create a ledger that names witnesses from its first entry on, so that a rewritten ledger is noticed",
				"the ledger has no witnesses: only its own key vouches for its history")
		}
		return
	}
	p, weak, err := parsePolicy(text)
	if d.failed(check, "correct the file, a C2SP tlog-policy", err) {
		return
	}
	if weak != nil {
		d.fail(check, "let more than half of each group make the quorum", "%s", weak)
	} else {
		d.ok(check, "any two quorums share a witness")
	}
	for _, w := range p.Witnesses {
		d.asked[w.Key.Name()] = true
		d.witness(ctx, h, w)
	}
}

// inForce returns the keys that sign the ledger's checkpoints. It leaves out a key that waits for its entry,
// which a witness may know already.
func (h openedKeys) inForce(keys [][]byte) (signers []note.Signer) {
	for _, public := range keys {
		key, err := audit.Verifier(h.origin, public)
		for _, s := range h.signers {
			if err == nil && s.KeyHash() == key.KeyHash() {
				signers = append(signers, s)
			}
		}
	}
	return signers
}

// intervals warns of intervals whose witness is in no policy that was read.
func (d *doctor) intervals() {
	for _, name := range slices.Sorted(maps.Keys(d.cfg.Witness.Every())) {
		if !d.asked[name] {
			d.warn("witness.intervals", "give the name of a witness's key, the part of the verifier key before the first +, or remove the interval",
				"the interval of %s has no effect: no policy that was read names a witness with a key of that name", name)
		}
	}
}

// witness asks one witness to cosign the empty ledger, which every history extends. A witness says what it
// knows of a ledger only if the ledger's key signed the request.
func (d *doctor) witness(ctx context.Context, h openedKeys, w audit.Witness) {
	ctx, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	check, client := "witness "+w.Name, &witness.Client{URL: w.URL, Keys: []note.Verifier{w.Key}}
	empty := audit.Checkpoint{Origin: h.origin, Root: sha256.Sum256(nil)}
	signed, err := note.Sign(&note.Note{Text: empty.Text()}, h.signers...)
	if err == nil {
		_, err = client.AddCheckpoint(ctx, 0, nil, signed)
	}
	found := "the witness cosigned under the key of the policy"
	if knows, ok := errors.AsType[*gateway.Conflict](err); ok {
		found = fmt.Sprintf("the witness has cosigned %d entries under the key of the policy", knows.Size)
		_, err = client.Latest(ctx, h.origin)
	}
	switch {
	case errors.Is(err, gateway.ErrRefused):
		d.fail(check, "the operator of the witness starts it with the verifier keys in force and with no other keys of this ledger: shuffled witness serve --log",
			"%s does not know this ledger or its key: %s", w.URL, err)
	case errors.Is(err, gateway.ErrNone):
		d.warn(check, "shuffled verify of a witnessed hand shows its key", "the witness shows no checkpoint, so its key was not checked")
	case err != nil && errors.As(err, new(*note.UnverifiedNoteError)):
		d.fail(check, "ask the operator of the witness for its key and address again, and change the policy: shuffled ledger policy set",
			"%s signs with another key than %s", w.URL, w.VKey)
	case err != nil:
		d.fail(check, "start the witness, correct its address in the policy, or correct the network between this host and the witness", "%s: %s", w.URL, err)
	default:
		d.ok(check, "%s", found)
		if now, err := client.Clock(ctx); err == nil {
			d.clock("clock of "+w.Name, now, time.Second)
		}
	}
}
