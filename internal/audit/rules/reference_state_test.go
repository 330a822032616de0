package rules

import (
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// refState is the encoding of the state of a legal ledger, from looks at the whole list of entries.
func refState(m model) []byte {
	if len(m) == 0 {
		return append([]byte{1}, make([]byte, 17+2+32+1+1+4*4+4+4+8+4)...)
	}
	last := m[len(m)-1]
	return slices.Concat(
		spec.Join(uint8(1), uint64(len(m)), last.Time, false), spec.Blob(refBody(m[0])), spec.Sum(refBytes(m[0])),
		spec.Join(m.latched()), m.refPair(),
		refSorted(m.switches()), refSorted(m.starts()), refSorted(m.tables()), refSorted(m.played()),
		m.keyring(), refSorted(m.credentials()), spec.Join(m.newestAct()), m.refWaiting(),
	)
}

// refBody is what stands behind version, type, time, identity and credential.
func refBody(e audit.Entry) []byte {
	return refBytes(e)[1+1+8+1+len(e.Actor.Identity)+1+len(e.Actor.Credential):]
}

// credentials are all that were created.
func (m model) credentials() (list []string) {
	for i, e := range m {
		c, ok := e.Body.(*audit.Credential)
		if !ok || c.Kind != audit.CredentialCreated {
			continue
		}
		_, revoked := m.credential(c.ID)
		ended := int64(0)
		if revoked >= 0 {
			ended = max(m[revoked].Time, 1)
		}
		list = append(list, string(spec.Join(refBody(e)[1:], uint64(i), e.Time, ended)))
	}
	return list
}

func (m model) refWaiting() []byte {
	list := m.waiting()
	out := spec.Join(uint32(len(list)))
	for _, i := range list {
		a := m[i].Body.(*audit.ActEntry)
		out = spec.Join(out, i, m[i].Time, a.Expires, uint8(a.Act), a.Digest[:])
	}
	return out
}

// refSorted is a u32 count and the elements, in order of their bytes, each once.
func refSorted(elements []string) []byte {
	slices.Sort(elements)
	elements = slices.Compact(elements)
	return spec.Join(uint32(len(elements)), strings.Join(elements, ""))
}

func (m model) refPair() []byte {
	switch b := m[len(m)-1].Body.(type) {
	case *audit.ActEntry:
		if m.due() {
			return spec.Join(uint8(3), uint8(b.Act), b.Digest[:])
		}
	case *audit.Deal:
		if b.Final {
			return spec.Join(uint8(1), b.Shuffle)
		}
	case *audit.Reveal:
		if b.Final {
			return spec.Join(uint8(4), b.Shuffle)
		}
	case *audit.Commit:
		if b.Context.Parent != nil {
			return spec.Join(uint8(2), b.Context.Parent.ID)
		}
	}
	if next, by := m.toDisclose(); next != 0 {
		return spec.Join(uint8(5), next, spec.Str8(by))
	}
	return []byte{0}
}

func (m model) switches() (set []string) {
	for _, e := range m {
		if k, ok := e.Body.(*audit.Event); ok && k.Kind == audit.EventKillSet && m.killed(k.Scope, k.Name, k.Deck) {
			what := map[audit.Scope][]byte{audit.ScopeTable: spec.Str8(k.Name), audit.ScopeDeck: k.Deck[:]}[k.Scope]
			set = append(set, string(spec.Join(uint8(k.Scope), what)))
		}
	}
	return set
}

func (m model) starts() (indexes []string) {
	for i := range m {
		if m.started(uint64(i)) {
			indexes = append(indexes, string(spec.Join(uint64(i))))
		}
	}
	return indexes
}

func (m model) tables() (tables []string) {
	for _, e := range m {
		name := ""
		switch b := e.Body.(type) {
		case *audit.Commit:
			name = b.Context.Table
		case *audit.Event:
			if b.Kind == audit.EventTableOpen || b.Kind == audit.EventTableClose {
				name = b.Name
			}
		}
		if name == "" {
			continue
		}
		open, _ := m.table(name)
		var last uint64
		commits := m.commitsAt(name)
		if len(commits) > 0 {
			last = commits[len(commits)-1]
		}
		tables = append(tables, string(spec.Join(spec.Str8(name), !open, uint64(len(commits)), last)))
	}
	return tables
}

func (m model) played() (shuffles []string) {
	for _, id := range m.live() {
		next := 0
		for _, i := range m.dealsOf(id) {
			next += m[i].Body.(*audit.Deal).Count()
		}
		mixed := any1(m, func(x *audit.Mix) bool { return x.Shuffle == id })
		shuffles = append(shuffles, string(spec.Join(id, spec.Blob(refBody(m[id])), uint16(next), m.round(id), mixed,
			m.refOwner(id), spec.Blob(m.refShown(id)), m.refChained(id), uint16(len(m.gave(id))), m.gave(id))))
	}
	return shuffles
}

// refShown is u16 length ‖ u8 kind of each stretch of places alike, nothing when all are public.
func (m model) refShown(id uint64) (out []byte) {
	places := string(m.shows(id))
	if strings.Trim(places, "p") == "" {
		return nil
	}
	for rest := places; rest != ""; {
		kind := rest[:1]
		tail := strings.TrimLeft(rest, kind)
		out = spec.Join(out, uint16(len(rest)-len(tail)), uint8(strings.Index("phb", kind)))
		rest = tail
	}
	return out
}

// refChained is close-by and latest close-by of the chain, depth, and where the shuffle
// stands: 0 open, 1 continued, 2 to be disclosed.
func (m model) refChained(id uint64) []byte {
	last, stage := m.newest(id), uint8(1)
	switch {
	case last == id:
		stage = 0
	case !m.begun(last):
		stage = 2
	}
	return spec.Join(m[last].Body.(*audit.Commit).CloseBy, m.rootOf(id).Time+1000*int64(m.genesis().MaxCloseBy),
		uint8(1+len(m.ancestors(id))), stage)
}

func (m model) refOwner(id uint64) []byte {
	owner, limited := m.owner(m.newest(id))
	extent := uint8(2)
	if limited {
		extent = 1
	}
	return spec.Join(spec.Str8(owner), extent, uint8(len(m.takeovers(id))))
}

// keyring is the key entries, without wraps.
func (m model) keyring() []byte {
	n, list := uint32(0), []byte{}
	for i, e := range m {
		k, ok := e.Body.(*audit.Key)
		if !ok {
			continue
		}
		n++
		list = spec.Join(list, uint64(i), e.Time, uint8(k.Subject))
		switch k.Subject {
		case audit.SubjectPolicy:
			list = spec.Join(list, spec.Blob(k.Policy))
		case audit.SubjectRetirement:
			list = spec.Join(list, uint8(k.Retired), k.ID[:], k.From)
		case audit.SubjectAdministrator, audit.SubjectTwoPersons, audit.SubjectCoDealer:
			list = spec.Join(list, refBody(e)[1:])
		default:
			list = spec.Join(list, spec.Blob(k.Public))
		}
	}
	return spec.Join(n, list)
}
