package audit

import (
	"cmp"
	"slices"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// maxSeconds is the last second of the year 9999, the end of RFC 3339. A
// cosignature with a later time, or with none, counts for nothing.
const maxSeconds = 253402300799

// Cosignature says that a witness saw a checkpoint at a time, and that the checkpoint extends
// everything that the witness saw before (C2SP tlog-cosignature).
type Cosignature struct {
	Witness string // its name in the policy
	Time    int64  // seconds since 1970, at least 1
	by      *node
}

// SameWitness reports whether two cosignatures under one policy are of one witness, perhaps by two of its keys.
func (c Cosignature) SameWitness(d Cosignature) bool { return c.by == d.by }

// Undecided reports whether the quorum may have cosigned a checkpoint that is not Satisfied: it has
// lines of witness keys of unknown types, and if all of these hold, the quorum is met.
func (p *Policy) Undecided(signed []byte) bool {
	if !p.Asks() {
		return false
	}
	_, lines, err := splitNote("checkpoint", signed, MaxCheckpoint)
	if err != nil {
		return false
	}
	by := make(map[*node]bool)
	for _, c := range p.Cosignatures(signed) {
		by[c.by] = true
	}
	for _, w := range p.Witnesses {
		if _, unknown := w.Key.(unknownKey); unknown && slices.ContainsFunc(lines, func(s note.Signature) bool {
			return s.Name == w.Key.Name() && s.Hash == w.Key.KeyHash()
		}) {
			by[w.node] = true
		}
	}
	return p.quorum.met(by)
}

// Cosignatures returns the valid cosignatures of a checkpoint by the policy's witnesses, in the policy's order. Of two
// lines with one name and key id the first counts.
func (p *Policy) Cosignatures(signed []byte) []Cosignature {
	if p == nil {
		return nil
	}
	if _, _, err := splitNote("checkpoint", signed, MaxCheckpoint); err != nil {
		return nil
	}
	var all []Cosignature
	for _, w := range p.Witnesses {
		n, err := note.Open(signed, note.VerifierList(w.Key))
		if err != nil {
			continue
		}
		sig := n.Sigs[0]
		at, err := fnote.CoSigV1Timestamp(sig)
		if err != nil || at.Unix() < 1 || at.Unix() > maxSeconds {
			continue
		}
		all = append(all, Cosignature{w.Name, at.Unix(), w.node})
	}
	return all
}

// Satisfied reports whether the policy's quorum cosigned a checkpoint. It does not look at the
// log's signature. A policy that asks for no witness is satisfied.
func (p *Policy) Satisfied(signed []byte) bool {
	_, ok := p.CompleteAt(signed)
	return ok || !p.Asks()
}

// CompleteAt returns the first second, since 1970, at which the quorum had cosigned a checkpoint, by its witnesses'
// clocks (docs/SPEC.md section 7.3). ok is false if it did not, and for a policy that asks for no witness.
func (p *Policy) CompleteAt(signed []byte) (unix int64, ok bool) {
	if !p.Asks() {
		return 0, false
	}
	all := p.Cosignatures(signed)
	slices.SortStableFunc(all, func(a, b Cosignature) int { return cmp.Compare(a.Time, b.Time) })
	by := make(map[*node]bool, len(all))
	for _, c := range all {
		if by[c.by] = true; p.quorum.met(by) {
			return c.Time, true
		}
	}
	return 0, false
}
