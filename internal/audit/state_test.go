package audit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/shuffle"
)

// richState is the state of the story that has everything.
func richState(t testing.TB) *State {
	t.Helper()
	names, stories := stateStories()
	i := slices.Index(names, "everything")
	return fold(t, stories[i].model())
}

// TestParseStateRefuses: states that no ledger has.
func TestParseStateRefuses(t *testing.T) {
	t.Parallel()
	first := func(s *State, mixed bool) (uint64, opened) {
		for _, o := range s.OpenShuffles() {
			if o.Mixed == mixed {
				return o.ID, find(s, o.ID)
			}
		}
		panic("no such shuffle")
	}
	for name, change := range map[string]func(s *State){
		"a size above 2^53":         func(s *State) { s.size = 1 << 53 },
		"a size below a commit":     func(s *State) { s.size = 20 },
		"a time above 2^53":         func(s *State) { s.time = 1 << 53 },
		"no entries, and a genesis": func(s *State) { *s = *fold(t, newStory().model()[:1]); s.size = 0 },
		"no genesis":                func(s *State) { s.genesis = nil },
		"no genesis, and a key entry": func(s *State) {
			*s = *NewState()
			s.size, s.faulty, s.keys.entries = 2, true,
				[]KeyEntry{{1, 1, &Key{Subject: SubjectAuditor, Public: auditorKey("1")}}}
		},
		"no genesis, and the latch": func(s *State) {
			*s = *NewState()
			s.size, s.faulty, s.latched = 1,
				true, true
		},
		"no genesis, and no fault":            func(s *State) { *s = *NewState(); s.size = 1 },
		"no entries, and a time":              func(s *State) { *s = *NewState(); s.time = 1 },
		"no entries, and a fault":             func(s *State) { *s = *NewState(); s.faulty = true },
		"a pair of no open shuffle":           func(s *State) { s.pair = &pair{shuffle: 1} },
		"a switch for a table without a name": func(s *State) { s.killed[kill{scope: ScopeTable}] = true },
		"an instance above":                   func(s *State) { s.instances[s.size] = true },
		"the genesis for an instance":         func(s *State) { s.instances[0] = true },
		"a table with a bad name":             func(s *State) { s.tables["-"] = &table{} },
		"a table with a serial and no commit": func(s *State) { s.tables["u"] = &table{serial: 1} },
		"a table with a commit and no serial": func(s *State) { s.tables["u"] = &table{last: 1} },
		"a table with a commit above":         func(s *State) { s.tables["u"] = &table{serial: 1, last: s.size} },
		"an open shuffle of no table": func(s *State) {
			_,
				o := first(s, true)
			delete(s.tables, o.commit().Context.Table)
		},
		"an open shuffle above the table's last": func(s *State) { _, o := first(s, true); o.table.last = 1 },
		"an open shuffle above": func(s *State) {
			_,
				o := first(s, true)
			o.table.last = s.size - 1
			move(s, o.id, s.size)
		},
		"an open shuffle at entry 0": func(s *State) { _, o := first(s, true); move(s, o.id, 0) },
		"an open shuffle with a bad commit": func(s *State) {
			_,
				o := first(s, true)
			rewrite(s, o, func(c *Commit) { c.Serial = 0 })
		},
		"an open shuffle with a bad context": func(s *State) {
			_,
				o := first(s, true)
			rewrite(s, o, func(c *Commit) { c.Context.Origin = "" })
		},
		"a next place past the last":         func(s *State) { _, o := first(s, true); o.next = uint16(o.m + 1) },
		"mixed without a plan":               func(s *State) { _, o := first(s, false); o.mixed = true },
		"a key entry above":                  func(s *State) { s.keys.entries[0].Index = s.size },
		"the genesis for a key entry":        func(s *State) { s.keys.entries[0].Index = 0 },
		"a key entry of no time that can be": func(s *State) { s.keys.entries[0].Time = -1 },
		"a signing key of another size": func(s *State) {
			keyOf(s,
				SubjectSigning).Public = signingKey("3")[:32]
		},
		"no signing key": func(s *State) { keyOf(s, SubjectSigning).Public = nil },
		"an auditor key of another size": func(s *State) {
			*keyOf(s,
				SubjectPolicy) = Key{Subject: SubjectAuditor, Public: auditorKey("9")[:65]}
		},
		"an auditor key that is in force": func(s *State) {
			*keyOf(s,
				SubjectPolicy) = Key{Subject: SubjectAuditor, Public: auditorKey("1")}
		},
		"a disclosure key of another form": func(s *State) {
			keyOf(s,
				SubjectDisclosure).Public = compressed("9")
		},
		"a retirement of an unknown key": func(s *State) { keyOf(s, SubjectRetirement).ID[0] ^= 1 },
		"a retirement of another subject": func(s *State) {
			keyOf(s,
				SubjectRetirement).Retired = SubjectDisclosure
		},
		"a policy that is not ASCII":       func(s *State) { keyOf(s, SubjectPolicy).Policy = []byte("é") },
		"a hash of the genesis of zeros":   func(s *State) { s.persons.genesis = [32]byte{} },
		"a newest act above":               func(s *State) { s.persons.newest = s.size },
		"17 takeovers":                     func(s *State) { _, o := first(s, true); o.takeovers = 17 },
		"a first owner who may only close": func(s *State) { _, o := first(s, true); o.extent = ExtentClose },
		"an owner without a name": func(s *State) {
			_,
				o := first(s, true)
			o.owner = s.identity(Actor{})
		},
		"a credential of the genesis": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.index = 0 })
		},
		"a credential above": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.index = s.size })
		},
		"a credential of no time that can be": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.created = -1 })
		},
		"a credential revoked at no time": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.revoked = -1 })
		},
		"a credential without an id": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.ID = "" })
		},
		"a credential with a reserved id": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.ID = "daemon" })
		},
		"a credential of a reserved identity": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.Identity = "operator" })
		},
		"a credential with its tables in disorder": func(s *State) {
			s.holders.known["c"] = aHolder(func(h *holder) { h.Tables = []string{"b", "a"} })
		},
		"an act that waits above the newest act": func(s *State) { s.persons.waiting = []waitingAct{{approval{act: ActLatchClear}, 3, 1, MaxInteger}} },
		"an act that waits at entry 0": func(s *State) {
			s.persons.newest, s.persons.waiting = 3, []waitingAct{{approval{act: ActLatchClear}, 0, 1, MaxInteger}}
		},
		"acts that wait in disorder": func(s *State) {
			s.persons.newest, s.persons.waiting = 5,
				[]waitingAct{{approval{act: ActLatchClear}, 4, 1, MaxInteger},
					{approval{act: ActLatchClear}, 3, 1, MaxInteger}}
		},
		"an act that waits at no time": func(s *State) {
			s.persons.newest, s.persons.waiting = 5, []waitingAct{{approval{act: ActLatchClear}, 4, -1, MaxInteger}}
		},
		"an act that waits and has expired": func(s *State) {
			s.persons.newest, s.persons.waiting = 5, []waitingAct{{approval{act: ActLatchClear}, 4, 1, s.time}}
		},
		"an act that waits of no kind": func(s *State) {
			s.persons.newest, s.persons.waiting = 5,
				[]waitingAct{{approval{}, 4, 1, MaxInteger}}
		},
		"an approval of no kind": func(s *State) { s.persons.approved = &approval{} },
		"an administrator's key of another size": func(s *State) {
			*keyOf(s, SubjectPolicy) = Key{Subject: SubjectAdministrator, Admin: ChangeAdd, Name: "a",
				Public: keyLike(32)}
		},
		"two persons in disorder": func(s *State) {
			*keyOf(s, SubjectPolicy) = Key{Subject: SubjectTwoPersons,
				Acts: []Act{2, 1}}
		},
		"a policy of 8,193 bytes": func(s *State) { keyOf(s, SubjectPolicy).Policy = make([]byte, 8193) },
		"65 auditor keys": func(s *State) {
			for i := range 64 { // and the one in force
				s.keys.entries = append(s.keys.entries,
					KeyEntry{s.size - 65 + uint64(i), 1,
						&Key{Subject: SubjectAuditor, Public: auditorKey(fmt.Sprint("more ", i))}})
			}
			s.size += 100
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := richState(t)
			change(s)
			if got, err := ParseState(s.Encode()); got != nil || !errors.Is(err, ErrMalformed) {
				t.Errorf("%v", err)
			}
		})
	}
	for name, change := range map[string]func(s *State){
		"an extent": func(s *State) { _, o := first(s, true); o.extent, o.takeovers = 3, 1 },
		"a role":    func(s *State) { s.holders.known["c"] = aHolder(func(h *holder) { h.Role = 5 }) },
		"an act that waits": func(s *State) {
			s.persons.newest, s.persons.waiting = 5, []waitingAct{{approval{act: 13}, 4, 1, MaxInteger}}
		},
		"an act that approves": func(s *State) { s.persons.approved = &approval{act: 128} },
		"a scope":              func(s *State) { s.killed[kill{scope: 4}] = true },
		"a subject":            func(s *State) { keyOf(s, SubjectRetirement).Retired = SubjectPolicy },
		"a type of key":        func(s *State) { keyOf(s, SubjectSigning).Public[0] = 2 },
		"a recipe's algorithm": nil,
	} {
		s := richState(t)
		b := s.Encode()
		if change != nil {
			change(s)
			b = s.Encode()
		} else {
			_, o := first(s, true)
			context := o.commit().Context
			at := bytes.Index(b, context.Encode()) + 1 + len(context.Origin) + 1 + 1 + len(context.Table)
			b[at] = 2
		}
		if _, err := ParseState(b); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s of a later version: %v", name, err)
		}
	}
}

// aHolder is a credential that a state may hold, after a change.
func aHolder(change func(*holder)) *holder {
	h := &holder{Credential: *refEntry{Holder: sampleHolder()}.entry().Body.(*Credential), index: 3, created: 1}
	change(h)
	return h
}

// rewrite changes the commit of an open shuffle, and nothing that was derived.
func rewrite(s *State, o opened, change func(*Commit)) {
	c, owner := o.commit(), Actor{Identity: s.holders.identities[o.owner]}
	change(c)
	s.open.insert(s.opening(s.open.remove(o.id).id, c, o.table, owner))
}

// find returns an open shuffle that there is.
func find(s *State, id uint64) opened {
	o, ok := s.open.find(id)
	if !ok {
		panic("no such shuffle")
	}
	return o
}

// move gives an open shuffle another id.
func move(s *State, from, to uint64) {
	o := s.open.remove(from)
	o.id = to
	s.open.insert(o)
}

// keyOf returns the first key entry of a subject, to be changed.
func keyOf(s *State, subject Subject) *Key {
	i := slices.IndexFunc(s.keys.entries, func(e KeyEntry) bool { return e.Key.Subject == subject })
	k := *s.keys.entries[i].Key
	k.Public = bytes.Clone(k.Public)
	s.keys.entries[i].Key = &k
	return &k
}

// TestParseStateOrder: each list has one order, and nothing twice.
func TestParseStateOrder(t *testing.T) {
	t.Parallel()
	s := richState(t)
	b := s.Encode()
	swap := func(name string, x, y []byte) {
		t.Helper()
		both := slices.Concat(x, y)
		if bytes.Count(b, both) != 1 {
			t.Fatalf("%s: %x and %x do not follow each other", name, x, y)
		}
		for what, with := range map[string][]byte{"swapped": slices.Concat(y, x), "twice": slices.Concat(x, x)} {
			if _, err := ParseState(bytes.Replace(b, both, with, 1)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
	}
	swap("switches", refJoin(uint8(2), refStr8("b")), refJoin(uint8(2), refStr8("aa")))
	swap("instances", refJoin(uint64(1)), refJoin(uint64(8)))
	swap("tables", refJoin(refStr8("s"), true, uint64(1), s.tables["s"].last),
		refJoin(refStr8("t"), false, uint64(1), s.tables["t"].last))
	var open [][]byte
	for _, o := range s.OpenShuffles() {
		open = append(open, refJoin(o.ID, refBlob(refBody(Entry{Actor: someone, Body: o.Commit()})), uint16(o.Next),
			o.Mixed, refStr8(o.Owner), uint8(o.Extent), uint8(0)))
	}
	swap("open shuffles", open[0], open[1])
	var retired [][]byte
	for _, e := range s.KeyEntries() {
		if k := e.Key; k.Subject == SubjectRetirement {
			retired = append(retired, refJoin(e.Index, e.Time, uint8(5), uint8(k.Retired), k.ID[:], k.From))
		}
	}
	swap("key entries", retired[0], retired[1])

	names, stories := stateStories()
	s = fold(t, stories[slices.Index(names, "owners, credentials, administrators and acts that wait")].model())
	b = s.Encode()
	var holders [][]byte
	for _, id := range []string{"token-1", "token-2", "token-22"} {
		h := s.holders.known[id]
		holders = append(holders, refJoin(refBody(Entry{Actor: someone, Body: &h.Credential})[1:], h.index, h.created,
			h.revoked))
	}
	swap("credentials", holders[0], holders[1])
	swap("credentials of another length", holders[1], holders[2])
	var waiting [][]byte
	for _, a := range s.persons.waiting {
		waiting = append(waiting, refJoin(a.index, a.at, a.expires, uint8(a.act), a.digest[:]))
	}
	swap("acts that wait", waiting[0], waiting[1])
}

// TestDamagedState: whatever happens to a byte of a state, it is refused, or is
// the one encoding of what it parses to; and a part of it is refused.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	names, stories := stateStories()
	for _, name := range []string{"everything", "owners, credentials, administrators and acts that wait",
		"the entry that an act approves comes next"} {
		damageState(t, fold(t, stories[slices.Index(names, name)].model()).Encode())
	}
}

func damageState(t *testing.T, b []byte) {
	for n := range b {
		if _, err := ParseState(b[:n]); !errors.Is(err, ErrMalformed) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(b), err)
		}
	}
	for _, more := range []byte{0, 1, 255} {
		if _, err := ParseState(append(bytes.Clone(b), more)); !errors.Is(err, ErrMalformed) {
			t.Errorf("and a byte %d: %v", more, err)
		}
	}
	for i := range b {
		for _, with := range []byte{b[i] + 1, b[i] - 1, b[i] ^ 0x80, 0, 255} {
			damaged := bytes.Clone(b)
			damaged[i] = with
			mustBeState(t, damaged)
		}
	}
	// A count beyond the bytes.
	for i := range len(b) - 4 {
		damaged := bytes.Clone(b)
		copy(damaged[i:], []byte{255, 255, 255, 255})
		mustBeState(t, damaged)
	}
	if _, err := ParseState([]byte{2}); !errors.Is(err, ErrUnknown) {
		t.Errorf("a later version: %v", err)
	}
}

// mustBeState fails unless b is the encoding of what it parses to, or is refused.
func mustBeState(t testing.TB, b []byte) *State {
	t.Helper()
	s, err := ParseState(b)
	if err != nil {
		if errors.Is(err, ErrMalformed) == errors.Is(err, ErrUnknown) || s != nil {
			t.Fatalf("neither malformed nor unknown, or both: %v", err)
		}
		return nil
	}
	if again := s.Encode(); !bytes.Equal(again, b) {
		t.Fatalf("\n%x parses to what encodes to\n%x", b, again)
	}
	return s
}

// TestParseStateKeepsNothing: a state does not change with the bytes it came from.
func TestParseStateKeepsNothing(t *testing.T) {
	t.Parallel()
	want := richState(t).Encode()
	b := bytes.Clone(want)
	s, err := ParseState(b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if !bytes.Equal(s.Encode(), want) {
		t.Error("the state changed with its bytes")
	}
}

// TestManyOpenShuffles: a large state goes there and back.
func TestManyOpenShuffles(t *testing.T) {
	t.Parallel()
	s := crowd(t, 20_000)
	back, err := ParseState(s.Encode())
	if err != nil || back.OpenCount() != 20_000 || !bytes.Equal(back.Encode(), s.Encode()) {
		t.Fatalf("%v, %d open shuffles", err, back.OpenCount())
	}
}

// crowd is a state with n tables and an open shuffle at each.
func crowd(t testing.TB, n int) *State {
	t.Helper()
	s := NewState()
	apply := func(body Body) {
		if err := s.Apply(Entry{Time: 1, Actor: someone, Body: body}); err != nil {
			t.Fatal(err)
		}
		s.Commit()
	}
	apply(sampleGenesisBody())
	apply(&Event{Kind: EventInstanceStart, Name: "v1"})
	for i := range n {
		c := nextCommit(s, fmt.Sprint("table-", i))
		c.Context.Recipe = shuffle.Recipe{Cards: 52, Take: 52}
		apply(c)
	}
	return s
}

func BenchmarkState(b *testing.B) {
	s := crowd(b, 100_000)
	encoded := s.Encode()
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(encoded)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseState(encoded); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// FuzzParseState: whatever parses encodes to the same bytes, and takes any entry.
func FuzzParseState(f *testing.F) {
	var corpus [][]byte
	names, stories := stateStories()
	for _, s := range stories {
		corpus = append(corpus, refState(s.model()))
	}
	seeds(f, 6, corpus)
	var next []Entry
	for i := range names {
		next = append(next, stories[i].model()...)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := mustBeState(t, b)
		if s == nil {
			return
		}
		size := int(s.Size())
		holdForced(t, s, size)
		for i, e := range next {
			if s.Apply(e) != nil {
				s.Force(e)
			}
			if i == len(next)-1 && s.Size() <= maxInteger {
				holdForced(t, s, size+len(next))
			}
		}
	})
}
