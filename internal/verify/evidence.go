package verify

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// maxTime is the last millisecond of the year 9999.
const maxTime = 253402300799999

// receiptHeader begins every C2SP tlog-proof; its version follows.
const receiptHeader = "c2sp.org/tlog-proof@"

// evidence is what a transcript and a receipt have in common: receipts under one
// checkpoint. The steps fill it in order, each from what the ones before found.
type evidence struct {
	v        *Verdict
	trust    *trusted
	receipts []audit.Receipt
	signed   []byte           // the checkpoint of all receipts
	head     audit.Checkpoint // it, from format on; it is signed from signature on
	genesis  *audit.Genesis   // nil: the file has none
	commit   *audit.Commit    // of a receipt alone: nil unless it is of a commit
	early    *prefix          // nil: the file has none
	keys     []handover       // of a transcript, by index
	seen     []byte           // checkpoint on which the level witnessed rests; nil: none
	mine     []int            // where in the plan the slots stand whose values were given, ascending
}

// apart is a receipt with a checkpoint of its own.
type apart struct {
	audit.Receipt
	head audit.Checkpoint
}

// under is the part of format for the checkpoint of all receipts.
func (e *evidence) under(signed []byte) (err error) {
	if e.head, err = checkpointIn(signed, ""); err != nil {
		return err
	}
	e.signed = signed
	e.v.Ledger = e.head.Origin
	e.v.Checkpoint = &Checkpoint{Origin: e.head.Origin, Size: e.head.Size}
	return nil
}

// checkpointIn reads a signed checkpoint of the ledger of this origin, "" for any, in its one form (docs/SPEC.md
// section 7.1), and checks that its origin can be one. It does not check signatures.
func checkpointIn(signed []byte, origin string) (audit.Checkpoint, error) {
	c, err := audit.CheckpointText(signed)
	if err != nil {
		return c, err
	}
	if err := audit.CheckOrigin(c.Origin); err != nil {
		return c, malformed("checkpoint: an origin %s", err)
	}
	if origin != "" && c.Origin != origin {
		return c, malformed("checkpoint: of %s, the other is of %s", c.Origin, origin)
	}
	return c, nil
}

// quorum asks for the policy's quorum on a checkpoint. The file's own is as large as the ledger was when the file was
// made: its cosignatures say that outsiders saw this history, and not when.
func quorum(policy *trust.Policy, signed []byte) error {
	switch {
	case policy == nil:
		return notChecked("no policy is given")
	case !policy.Asks():
		return notChecked("the policy asks for no witnesses")
	case policy.Satisfied(signed):
		return nil
	case policy.Undecided(signed):
		return fmt.Errorf("whether the policy's quorum cosigned the checkpoint hangs on lines of an unknown type: %w",
			audit.ErrUnknown)
	default:
		return errors.New("the policy's quorum did not cosign the checkpoint")
	}
}

// ofLedger holds the origin that an entry names against the checkpoint's.
func (e *evidence) ofLedger(t audit.Type, origin string) error {
	if origin != e.head.Origin {
		return fmt.Errorf("the %s is of %s, the checkpoint of %s", t, origin, e.head.Origin)
	}
	return nil
}

// conclude gives the verdict if every step that ran holds.
func (e *evidence) conclude(held bool) {
	if !held {
		return
	}
	if e.v.Kind == KindReceipt || len(e.keys) == 0 {
		e.v.KeyInForce = KeyNotShown
	}
	if len(e.trust.Keys) == 0 {
		e.v.Verdict, e.v.Level = Consistent, LevelKeyNotPinned
		return
	}
	e.v.Verdict, e.v.Level = Proved, LevelRecorded
	var early []trust.Cosignature
	if e.seen != nil {
		early = e.witnessed()
	}
	if !e.trust.Policy.Asks() {
		return
	}
	for _, c := range e.trust.Policy.Cosignatures(e.signed) {
		if !slices.ContainsFunc(early, c.SameWitness) {
			e.v.Late = append(e.v.Late, told(c))
		}
	}
}

// witnessed gives the level and returns the cosignatures that it rests on. It gives none if the
// trusted policy gives no level.
func (e *evidence) witnessed() (by []trust.Cosignature) {
	if err := e.trust.Policy.CheckLevel(e.head.Origin, e.signs); err != nil {
		e.v.explain(stepWitnesses, "the level stays recorded", err)
		return nil
	}
	e.v.Level, e.v.Overlap = LevelWitnessed, e.trust.Policy.Overlap()
	by = e.trust.Policy.Cosignatures(e.seen)
	for _, c := range by {
		e.v.Witnesses = append(e.v.Witnesses, told(c))
	}
	return by
}

func told(c trust.Cosignature) Cosigned { return Cosigned{c.Witness, timestamp(c.Time * 1000)} }

// signs reports whether a key, type byte first, is one that the file shows as a signing key of the ledger.
func (e *evidence) signs(public []byte) bool {
	return e.genesis != nil && bytes.Equal(e.genesis.SigningKey, public) ||
		slices.ContainsFunc(e.keys, func(h handover) bool { return bytes.Equal(h.key.Public, public) })
}

// timestamp writes UTC milliseconds since 1970 as the API does. RFC 3339 has
// years of four digits: a later time is left out.
func timestamp(ms int64) string {
	if ms > maxTime {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

func encode(h [32]byte) string { return base64.StdEncoding.EncodeToString(h[:]) }

// receipt is a receipt under judgement.
type receipt struct {
	evidence
	data []byte
}

func (r *receipt) format() (string, error) {
	one, err := audit.ParseReceipt(string(r.data))
	if err != nil {
		return "", err
	}
	r.receipts = []audit.Receipt{one}
	return "", r.under(one.Checkpoint)
}

func (r *receipt) entries() (string, error) {
	e, passed, err := audit.ParseEntryCodes(r.receipts[0].Entry)
	if err != nil {
		return "", err
	}
	index := r.receipts[0].Index
	r.v.passOver(index, passed)
	if (e.Body.Type() == audit.TypeGenesis) != (index == 0) {
		return "", fmt.Errorf("entry %d is a %s, where a genesis is entry 0 and no other", index, e.Body.Type())
	}
	r.v.ID = audit.ShuffleOf(e.Body)
	r.v.Entry = &Entry{Index: index, Type: e.Body.Type().String(), Time: timestamp(e.Time),
		Identity: e.Actor.Identity, Credential: e.Actor.Credential}
	switch b := e.Body.(type) {
	case *audit.Genesis:
		r.genesis = b
		r.v.Production = b.Production
	case *audit.Commit:
		r.commit = b
		r.v.showCommit(index, b, e.Time)
	case *audit.Close:
		r.v.showClose(b, e.Time)
	case *audit.Key:
		if b.Subject == audit.SubjectSigning {
			r.keys = []handover{{apart{r.receipts[0], r.head}, b}}
		}
	}
	return fmt.Sprintf("entry %d is a %s", index, e.Body.Type()), nil
}

// witnesses: a quorum over this checkpoint saw this entry. When it did, and before which other
// entries, only a transcript shows.
func (r *receipt) witnesses() (string, error) {
	if err := quorum(r.trust.Policy, r.signed); err != nil {
		return "", err
	}
	r.seen = r.signed
	return "the quorum cosigned this checkpoint, and so saw this entry", nil
}

func (r *receipt) origin() (string, error) {
	switch g, c := r.genesis, r.commit; {
	case g != nil:
		return g.Origin, r.ofLedger(g.Type(), g.Origin)
	case c != nil:
		return c.Context.Origin, r.ofLedger(c.Type(), c.Context.Origin)
	}
	return "", notChecked("such an entry names no ledger")
}

// passOver counts the codes of an entry that this version passed over.
func (v *Verdict) passOver(index uint64, codes []audit.Code) {
	v.PassedOver = audit.PassOver(v.PassedOver, index, codes)
	slices.SortFunc(v.PassedOver, func(a, b audit.Passed) int {
		return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(a.Code, b.Code))
	})
}

// showCommit fills in what a commit says.
func (v *Verdict) showCommit(id uint64, c *audit.Commit, at int64) {
	v.ID, v.Table, v.Serial, v.GameRef = id, c.Context.Table, c.Serial, c.GameRef
	v.Production = c.Context.Production
	v.Commitment, v.DeckRoot = encode(c.Commitment), encode(c.DeckRoot)
	v.Disclosure = c.Context.Disclosure.String()
	v.CommittedAt, v.CloseBy = timestamp(at), timestamp(c.CloseBy)
	v.Places, v.EndAt = c.Context.Recipe.Positions(), c.Context.EndAt
}

// showClose fills in what a close says.
func (v *Verdict) showClose(c *audit.Close, at int64) {
	v.State, v.ClosedAt = "closed", timestamp(at)
	if c.Outcome == audit.OutcomeContinued {
		v.State = "continued" // until its disclosure
	}
	v.Outcome, v.Reason = c.Outcome.String(), c.Reason.String()
}
