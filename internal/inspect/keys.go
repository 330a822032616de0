package inspect

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sort"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/bundle"
	"shuffled/internal/disclosure"
)

// key follows what a key entry changes.
func (f *fold) key(k *audit.Key, e audit.Entry, index uint64) {
	f.history.Take(index, e) // a key that cannot be used breaks the rule key
	switch k.Subject {
	case audit.SubjectSigning:
		f.rotated = &rotation{index: index, old: f.signers.Load().keys}
		f.judgePolicy()
		f.publish()
	case audit.SubjectPolicy: // it waits for its first checkpoint
		f.report.Witnesses.Policies++
		switch err := f.policies.Change(index, k.Policy); {
		case errors.Is(err, audit.ErrUnknown):
			f.cannot(index, err)
		case err == nil: // otherwise the rule key said so
			f.publish()
		}
	case audit.SubjectDisclosure:
		if k.Public[0] == audit.KeyP256 {
			f.noteOnce("disclosure keys are wrapped under P-256 alone: who keeps a copy of this ledger opens its tapes if a quantum computer breaks that")
		}
		for _, err := range f.unwrap(k, index) {
			if errors.Is(err, audit.ErrUnknown) {
				f.cannot(index, err)
			} else {
				f.faults.add(fault(CodeWrap, "", "%v", err).at(index))
			}
		}
	}
}

// cannot keeps, once, that an entry cannot be judged.
func (f *fold) cannot(index uint64, err error) {
	f.cannotJudge(fmt.Sprintf("entry %d: %s", index, audit.Printable(err.Error())))
}

func (f *fold) cannotJudge(line string) {
	if n := len(f.report.Unknown); n < MaxListed && (n == 0 || f.report.Unknown[n-1] != line) {
		f.report.Unknown = append(f.report.Unknown, line)
	}
}

// unwrap opens a disclosure key with one of the auditors' keys that the caller gave. If none opens it, it returns why.
func (f *fold) unwrap(k *audit.Key, index uint64) (problems []error) {
	for _, a := range f.opts.Auditors {
		o, err := a.Unwrap(f.state.Genesis().Origin, k)
		switch {
		case err == nil:
			f.openers[index] = o
			return nil
		case !errors.Is(err, disclosure.ErrNoWrap):
			problems = append(problems, err)
		}
	}
	return problems
}

// genesis begins the ledger.
func (f *fold) genesis(g *audit.Genesis, e audit.Entry, index uint64) {
	second := len(f.history.Records) > 0
	if f.history.Take(index, e); second {
		return // named by its rule
	}
	if g.Origin != f.newest.Origin {
		f.faults.add(fault(CodeOrigin, "", "the ledger is %s, its newest checkpoint is of %s", g.Origin,
			f.newest.Origin).at(index))
	}
	if len(g.Predecessor) > 0 {
		if _, err := audit.CheckpointText(g.Predecessor); err != nil {
			f.faults.add(fault(CodePredecessor, "", "%v", err).at(index))
		}
	}
	if len(g.Policy) > 0 {
		f.report.Witnesses.Policies++
	}
	switch policies, err := trust.NewPolicies(g.Policy); {
	case errors.Is(err, audit.ErrUnknown):
		f.cannot(index, err)
	case err == nil: // otherwise the rule key said so
		f.policies = policies
	}
	f.judgePolicy()
	f.publish()
}

// publish tells the workers which keys and policy are in force.
func (f *fold) publish() {
	now := &signers{policy: f.policies.Current()}
	if g := f.state.Genesis(); g != nil {
		for _, public := range f.state.SigningKeys() {
			if key, err := audit.Verifier(g.Origin, public); err == nil {
				now.keys = append(now.keys, key)
			}
		}
	}
	f.signers.Store(now)
}

// KeyLine is what the genesis or a key entry says of one key, or of the policy. It is
// the operator's word: a reader learns from elsewhere whom to trust.
type KeyLine struct {
	Entry   uint64 `json:"entry"` // index
	Time    string `json:"time"`
	Subject string `json:"subject"`           // signing, disclosure, auditor, policy or retirement
	ID      string `json:"id,omitempty"`      // base64; retirement: of the retired key
	Key     string `json:"key,omitempty"`     // base64 of type byte and public key
	VKey    string `json:"vkey,omitempty"`    // signing: the verifier key, if its type has one
	Policy  string `json:"policy,omitempty"`  // policy: its text
	Retired string `json:"retired,omitempty"` // retirement: subject of the retired key
	From    string `json:"from,omitempty"`    // retirement: when it begins
}

// keyLines lists the keys and policies that entries brought. Those of the genesis are in
// this order: the signing key, the auditor keys, the policy.
func (f *fold) keyLines() []KeyLine {
	all := []KeyLine{}
	for _, r := range f.history.Records {
		origin := f.newest.Origin
		if g := f.state.Genesis(); r.Index == 0 && g != nil {
			origin = g.Origin
		}
		line := KeyLine{Entry: r.Index, Time: bundle.FormatTime(r.Time), Subject: r.Subject.String()}
		switch id := base64.StdEncoding.EncodeToString(r.ID[:]); r.Subject {
		case audit.SubjectPolicy:
			line.Policy = string(r.Policy)
		case audit.SubjectRetirement:
			line.ID, line.Retired, line.From = id, r.Retired.String(), bundle.FormatTime(r.From)
		default:
			line.ID, line.Key = id, base64.StdEncoding.EncodeToString(r.Public)
		}
		if r.Subject == audit.SubjectSigning {
			line.VKey, _ = audit.VKey(origin, r.Public) // a type of a later version has no text
		}
		all = append(all, line)
	}
	return all[:min(len(all), MaxListed)]
}

// maxRetiredNotes bounds the notes about retired keys: a ledger can have any number of disclosure keys.
const maxRetiredNotes = 64

// retiredKeys notes for how long a key was in use after the time from which its retirement says that it deserves no
// trust. This breaks no rule (docs/SPEC.md section 5.7): the reader of the report decides what it means.
func (f *fold) retiredKeys() {
	came := make(map[[32]byte]trust.KeyRecord) // first entry of each key
	next := make(map[[32]byte]trust.KeyRecord) // by key: the one that took its place
	newest := make(map[[2]byte][32]byte)       // signing keys of both algorithms are in force side by side
	said := 0
	for _, r := range f.history.Records {
		switch r.Subject {
		case audit.SubjectSigning, audit.SubjectDisclosure:
			came[r.ID] = r
			kind := [2]byte{byte(r.Subject), r.Public[0]}
			if before, ok := newest[kind]; ok {
				next[before] = r
			}
			newest[kind] = r.ID
		case audit.SubjectRetirement:
			if text := doubted(r, came, next); text != "" && said < maxRetiredNotes {
				f.noteOnce(text)
				said++
			}
		}
	}
}

// doubted says for how long the retired key was in use from r.From on. It returns "" if it was not.
func doubted(r trust.KeyRecord, came, next map[[32]byte]trust.KeyRecord) string {
	first, known := came[r.ID]
	if !known || r.Retired == audit.SubjectAuditor {
		return ""
	}
	end, replaced := next[r.ID]
	if !replaced || r.Retired == audit.SubjectDisclosure && r.Index < end.Index {
		end = r // nothing is sealed to it from there on
	}
	from := max(r.From, first.Time)
	if from >= end.Time {
		return ""
	}
	what := "checkpoints of entries dated between were first signed with it"
	if r.Retired == audit.SubjectDisclosure {
		what = "tapes closed between are sealed to it"
	}
	return fmt.Sprintf("the %s key of entry %d deserves no trust from %s on, and was in use until entry %d of %s: %s",
		r.Retired, first.Index, audit.Instant(from), end.Index, audit.Instant(end.Time), what)
}

// sighting is the size of a cosigned checkpoint with the trusted quorum, and when the
// quorum was complete, in seconds since 1970.
type sighting struct {
	Size uint64
	At   int64
}

// sightingsKept is the least number of sightings at which those that no open shuffle needs are dropped.
const sightingsKept = 1 << 12

// saw keeps a sighting. Sizes and seconds of the sightings ascend: if a larger checkpoint
// was complete at the same second or before, it takes the place of smaller ones. So there
// is at most one for each second since the oldest shuffle that can still be played.
func (f *fold) saw(size uint64, at int64) {
	n := sort.Search(len(f.sightings), func(i int) bool { return f.sightings[i].At >= at })
	f.sightings = append(f.sightings[:n], sighting{size, at})
	if len(f.sightings) >= max(sightingsKept, 2*f.needed) {
		oldest := size
		for id, l := range f.live {
			if !l.Played && l.CloseBy > f.times[1] {
				oldest = min(oldest, id)
			}
		}
		f.sightings = slices.Delete(f.sightings, 0, f.covering(oldest))
		f.needed = len(f.sightings)
	}
}

// covering returns the number of the first sighting that covers an entry.
func (f *fold) covering(index uint64) int {
	return sort.Search(len(f.sightings), func(i int) bool { return f.sightings[i].Size > index })
}

// judgePolicy finds out whether the trusted policy can give the level witnessed
// (docs/SPEC.md section 7.3). It is called when the signing keys of the ledger change.
func (f *fold) judgePolicy() {
	if f.noLevel != "" || !f.trust.Policy.Asks() || f.state.Genesis() == nil {
		return
	}
	if err := f.trust.Policy.CheckLevel(f.state.Genesis().Origin, f.state.IsSigningKey); err != nil {
		f.noLevel = err.Error()
		f.noteOnce("no shuffle has the level witnessed: " + f.noLevel)
	}
}

// undecided says that it depends on lines of unknown types whether there is a quorum.
func undecided(size uint64) string {
	return fmt.Sprintf("checkpoint of size %d: whether the quorum cosigned it hangs on lines of an unknown type", size)
}

// quorum judges the cosignatures of a checkpoint whose signature and root hold.
func (f *fold) quorum(p *point) {
	own := p.own
	if len(f.policies.Waiting()) > 0 { // the checkpoint covers them
		if own = f.policies.Accept(p.head.Size, p.Signed); own {
			f.publish()
		}
	}
	f.cosigned.named = !own
	if !own && len(f.lost) > 0 {
		f.noteOnce("quorums above a lost entry are not checked: it may have changed the policy")
	} else if !own && f.policies.At(p.head.Size).Undecided(p.Signed) {
		f.cannotJudge(undecided(p.head.Size))
	} else if !own {
		f.faults.add(fault(CodeQuorum, p.Where,
			"the checkpoint of size %d is not cosigned by the quorum of the ledger's policy", p.head.Size))
	}
	if p.complete == 0 && f.trust.Policy.Undecided(p.Signed) {
		f.cosigned.undecided = p.head.Size
	}
	if p.complete != 0 {
		f.cosigned.pinned = p.head.Size
		f.report.Witnesses.Pinned++
		f.saw(p.head.Size, p.complete)
		f.opts.side.saw(p)
	}
}
