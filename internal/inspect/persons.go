package inspect

import (
	"encoding/hex"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/bundle"
)

// Acts are what administrators signed, in the whole ledger (docs/SPEC.md section 14.2).
type Acts struct {
	Count      uint64    `json:"count"`
	Waited     uint64    `json:"waited"`      // of one administrator, for what needs two
	BreakGlass uint64    `json:"break_glass"` // of those, acts whose entry was written
	List       []ActLine `json:"list"`        // by entry, at most MaxListed
}

// ActLine is one act.
type ActLine struct {
	Entry          uint64   `json:"entry"` // index
	Time           string   `json:"time"`
	Act            string   `json:"act"`            // as in docs/SPEC.md section 5.11
	Administrators []string `json:"administrators"` // who signed, by name
	Digest         string   `json:"digest"`         // of what is approved, hexadecimal
	Waited         bool     `json:"waited"`         // of one administrator, for what needs two
	BreakGlass     bool     `json:"break_glass"`    // it waited, and then the entry that it approves was written
	Approved       *uint64  `json:"approved,omitempty"`
	Cancelled      *uint64  `json:"cancelled,omitempty"` // index of the act that cancelled it
}

// AdoptedHead is a head that an operator vouched for.
type AdoptedHead struct {
	Entry      uint64 `json:"entry"` // index
	Time       string `json:"time"`
	Identity   string `json:"identity"`
	Credential string `json:"credential"`
	Size       uint64 `json:"size"`      // of the adopted head
	LostSize   uint64 `json:"lost_size"` // of the newest head known before, 0 for none
	Reason     string `json:"reason"`
}

// Credentials are the tokens and certificates of the whole ledger.
type Credentials struct {
	Created map[string]uint64 `json:"created"` // by role
	Revoked map[string]uint64 `json:"revoked"` // of them, by role
	Admins  []AdminCredential `json:"admins"`  // of the role admin, by entry, at most MaxListed
}

// AdminCredential is a credential of the role admin.
type AdminCredential struct {
	Entry      uint64 `json:"entry"` // that created it
	Credential string `json:"credential"`
	Identity   string `json:"identity"`
	Form       string `json:"form"`
	Created    string `json:"created"`
	Expires    string `json:"expires,omitempty"`
	Revoked    string `json:"revoked,omitempty"`
}

// persons notes what an entry says of administrators, after it was applied. waiting are the acts that waited before.
func (f *fold) persons(e audit.Entry, index uint64, waiting []rules.WaitingAct, legal bool) {
	if a, ok := e.Body.(*audit.ActEntry); ok {
		f.act(a, e.Time, index, waiting)
		return
	}
	if b, ok := e.Body.(*audit.Event); ok && b.Kind == audit.EventHeadAdopted {
		f.heads.claim(f.size, audit.Head{Size: b.Size, Root: b.Digest}, index)
		if len(f.report.AdoptedHeads) < MaxListed {
			f.report.AdoptedHeads = append(f.report.AdoptedHeads, AdoptedHead{Entry: index, Size: b.Size,
				Time: bundle.FormatTime(e.Time), Identity: e.Actor.Identity, Credential: e.Actor.Credential,
				LostSize: b.LostSize, Reason: b.Reason})
		}
	}
	if f.approving != 0 {
		if legal { // otherwise another entry came, and the rule pair named it
			f.actLine(f.approving).Approved = &index
		}
	} else if len(waiting) > 0 {
		f.brokeGlass(e, index, waiting)
	}
	f.approving = 0
}

// act notes an act.
func (f *fold) act(a *audit.ActEntry, now int64, index uint64, before []rules.WaitingAct) {
	line := ActLine{Entry: index, Time: bundle.FormatTime(now), Act: a.Act.String(), Administrators: []string{},
		Digest: hex.EncodeToString(a.Digest[:])}
	for _, s := range a.Signatures {
		line.Administrators = append(line.Administrators, s.Administrator)
	}
	line.Waited = slices.ContainsFunc(f.state.WaitingActs(), func(w rules.WaitingAct) bool { return w.Index == index })
	f.approving = 0
	switch {
	case line.Waited:
		f.report.Acts.Waited++
	case a.Act != audit.ActCancel:
		f.approving = index
	default:
		at := slices.IndexFunc(before, func(w rules.WaitingAct) bool { return w.Digest == a.Digest && now < w.Expires })
		if at >= 0 {
			f.actLine(before[at].Index).Cancelled = &index
		}
	}
	f.report.Acts.Count++
	f.heads.claim(f.size, audit.Head{Size: a.HeadSize, Root: a.HeadRoot}, index)
	if len(f.report.Acts.List) < MaxListed {
		f.report.Acts.List = append(f.report.Acts.List, line)
	}
}

// brokeGlass notes an entry that an act of one administrator approved.
func (f *fold) brokeGlass(e audit.Entry, index uint64, waiting []rules.WaitingAct) {
	act, ok := audit.ActFor(e.Body)
	if !ok || !f.state.NeedsTwo(act) {
		return
	}
	digest := audit.Approved(e.Actor.Identity, e.Body)
	at := slices.IndexFunc(waiting, func(w rules.WaitingAct) bool { return w.Digest == digest && e.Time < w.Expires })
	if at < 0 {
		return
	}
	f.report.Acts.BreakGlass++
	line := f.actLine(waiting[at].Index)
	line.BreakGlass, line.Approved = true, &index
}

// actLine returns the line of the act of this index, one that goes nowhere if it is not listed.
func (f *fold) actLine(index uint64) *ActLine {
	at, ok := slices.BinarySearchFunc(f.report.Acts.List, index,
		func(l ActLine, index uint64) int { return int(l.Entry) - int(index) })
	if !ok {
		return new(ActLine)
	}
	return &f.report.Acts.List[at]
}

func (f *fold) credentials() Credentials {
	c := Credentials{Created: map[string]uint64{}, Revoked: map[string]uint64{}, Admins: []AdminCredential{}}
	for _, h := range f.state.Holders() {
		role := h.Role.String()
		c.Created[role]++
		if h.Revoked != 0 {
			c.Revoked[role]++
		}
		if h.Role != audit.RoleAdmin || len(c.Admins) == MaxListed {
			continue
		}
		c.Admins = append(c.Admins, AdminCredential{Entry: h.Index, Credential: h.ID, Identity: h.Identity,
			Form: h.Form.String(), Created: bundle.FormatTime(h.Created), Expires: bundle.OptionalTime(h.Expires),
			Revoked: bundle.OptionalTime(h.Revoked)})
	}
	return c
}
