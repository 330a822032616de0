package trust

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// node is a witness or a group of a policy's quorum. No node is a member of two
// groups, so that a quorum is a tree and d is exact.
type node struct {
	name    string  // of the line that defined it
	need    int     // of a group: how many members must be met
	members []*node // by ascending d; none: a witness
	d       int     // witnesses that two sets which meet the node share at least
}

// met reports whether the witnesses meet the node.
func (n *node) met(by map[*node]bool) bool {
	if len(n.members) == 0 {
		return by[n]
	}
	met := 0
	for _, m := range n.members {
		if m.met(by) {
			met++
		}
	}
	return met >= n.need
}

// settle computes d of a group whose members are settled (docs/SPEC.md section 7.3), once: a policy may nest 64 groups.
func (n *node) settle() {
	slices.SortStableFunc(n.members, func(a, b *node) int { return cmp.Compare(a.d, b.d) })
	for _, m := range n.members[:n.shared()] {
		n.d += m.d
	}
}

// shared is how many members two sets of need members have in common at least.
func (n *node) shared() int { return max(0, 2*n.need-len(n.members)) }

// split returns two sets of witnesses that both meet the node and have d of them in common.
func (n *node) split() (a, b []string) {
	if len(n.members) == 0 {
		return []string{n.name}, []string{n.name}
	}
	both, alone := n.shared(), n.need-n.shared()
	for i, m := range n.members[:both+2*alone] {
		x, y := m.split()
		if i < both+alone {
			a = append(a, x...)
		}
		if i < both || i >= both+alone {
			b = append(b, y...)
		}
	}
	return a, b
}

// Asks reports whether the policy wants any cosignature: there is a policy, and its quorum is not none.
func (p *Policy) Asks() bool { return p != nil && p.quorum != nil }

// MetWithout reports whether the quorum can be met without the witnesses that are out. The quorum
// of a policy that asks for no witness is met.
func (p *Policy) MetWithout(out func(Witness) bool) bool {
	if !p.Asks() {
		return true
	}
	by := make(map[*node]bool)
	for _, w := range p.Witnesses {
		if _, unknown := w.Key.(unknownKey); !unknown && !out(w) {
			by[w.node] = true
		}
	}
	return p.quorum.met(by)
}

// Overlap is how many witnesses any two quorums of the policy have in common at least: so many must cosign both of two
// histories, and lie (docs/SPEC.md section 7.3, d). It is 0 if two quorums share none, and without a quorum.
func (p *Policy) Overlap() int {
	if !p.Asks() {
		return 0
	}
	return p.quorum.d
}

// CheckOverlap returns nil if any two quorums of the policy share a witness, and
// otherwise an error that names two that share none.
func (p *Policy) CheckOverlap() error {
	switch {
	case !p.Asks():
		return fmt.Errorf("the policy asks for no witness, so that two histories of the ledger need no witness who lies")
	case p.Overlap() > 0:
		return nil
	}
	a, b := p.quorum.split()
	return fmt.Errorf("the quorum of %s and the quorum of %s share no witness, so that each can cosign a history of its own and none of them lies",
		strings.Join(a, ", "), strings.Join(b, ", "))
}

// CheckLevel returns why a policy that a verifier trusts gives no level: two quorums of it may share no
// witness, or a witness is the ledger itself (docs/SPEC.md section 7.3). signing is that of CheckWitnesses.
func (p *Policy) CheckLevel(origin string, signing func(public []byte) bool) error {
	return cmp.Or(p.CheckOverlap(), p.CheckWitnesses(origin, signing))
}

// CheckWitnesses refuses a policy in which a witness has the name of the ledger or one of its signing keys: the house
// would be its own witness. signing reports whether a key, type byte first, is one that signs the ledger.
func (p *Policy) CheckWitnesses(origin string, signing func(public []byte) bool) error {
	if p == nil {
		return nil
	}
	for _, w := range p.Witnesses {
		key, err := audit.SigningKey(w.VKey)
		if err != nil {
			return err
		}
		switch {
		case w.Key.Name() == origin:
			return fmt.Errorf("witness %s has the name of the ledger, %s", w.Name, origin)
		case key[0] == audit.KeyCosignature && signing(append([]byte{audit.KeyEd25519}, key[1:]...)), signing(key):
			return fmt.Errorf("witness %s has a signing key of the ledger", w.Name)
		}
	}
	return nil
}

// Among returns a function that reports whether a key, type byte first, is one of keys.
func Among(keys [][]byte) func(public []byte) bool {
	return func(public []byte) bool {
		return slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, public) })
	}
}

// WitnessGrace is how much later than the first mix or deal, in milliseconds, a quorum may be complete for the level
// witnessed: clocks differ (docs/SPEC.md section 10.2).
const WitnessGrace = 10_000

// SecondsLate returns by how many seconds, rounded up, a quorum that was complete at a second of 1970 came after the
// first mix or deal, at UTC milliseconds; 0 if the level witnessed allows for it.
func SecondsLate(complete, played int64) int64 {
	late := complete*1000 - played
	if late <= WitnessGrace {
		return 0
	}
	return (late + 999) / 1000
}

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
	_, lines, err := audit.SplitNote("checkpoint", signed, audit.MaxCheckpoint)
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
	if _, _, err := audit.SplitNote("checkpoint", signed, audit.MaxCheckpoint); err != nil {
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
