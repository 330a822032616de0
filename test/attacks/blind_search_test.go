package attacks

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/needle"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
	"shuffled/internal/testdb"
)

// rowLen is how many values in a row are looked for: 12 of 36 positions are more than 2^57 lists.
const rowLen = 12

// secrets are the shuffles of one ledger that are not closed, as its database and its sealing
// key give them. The daemon is not asked.
type secrets struct {
	*house
	db   *sql.DB
	ring *seal.Keyring
	next uint64
	open map[uint64]*secret
}

type secret struct {
	id     uint64
	leaf   tlog.Hash
	commit *audit.Commit
	mix    *audit.Mix
	tape   []byte
	salts  []byte
	values []uint32
	opened map[int]bool // places of a co-dealer's order that it opened
	dealt  int
}

func (h *house) secrets() *secrets {
	h.t.Helper()
	raw, err := keys.ReadSealing(h.path("sealing.key"), keys.Secret{})
	h.check(err)
	key, err := seal.NewKey(raw.Bytes())
	h.check(err)
	ring, err := seal.NewKeyring(key)
	h.check(err)
	return &secrets{house: h, db: h.database(), ring: ring, open: make(map[uint64]*secret)}
}

// update reads what was written since.
func (s *secrets) update() {
	s.t.Helper()
	rows, err := s.db.Query("SELECT idx, entry, kept FROM entries WHERE idx >= $1 ORDER BY idx", s.next)
	s.check(err)
	defer rows.Close()
	for rows.Next() {
		var id uint64
		var text, kept []byte
		s.check(rows.Scan(&id, &text, &kept))
		entry, err := audit.ParseEntry(text)
		s.check(err)
		s.next = id + 1
		switch b := entry.Body.(type) {
		case *audit.Commit:
			n := seal.Overhead + b.Context.Recipe.TapeLen()
			tape, err := s.ring.Open(b.Context.Origin, b.Commitment, kept[:n])
			s.check(err)
			out, err := b.Context.Recipe.Run(tape)
			s.check(err)
			s.open[id] = &secret{id: id, leaf: tlog.RecordHash(text), commit: b, tape: tape, values: out.Values,
				salts: audit.Salts(b.Commitment, tape, len(out.Values)), opened: make(map[int]bool)}
		case *audit.Mix:
			s.open[b.Shuffle].mix = b
		case *audit.Deal:
			of := s.open[b.Shuffle]
			place := b.First
			for _, run := range b.Runs {
				for range run.Count {
					of.opened[place] = !run.Aside()
					place++
				}
			}
			of.dealt = place
		case *audit.Close:
			delete(s.open, b.Shuffle)
		}
	}
	s.check(rows.Err())
}

// tapeNeedles are for the tape and the keys that come from it.
func (s *secret) tapeNeedles(n *needle.Needles, whose string) {
	n.Bytes(whose+" tape", s.tape)
	for _, label := range []string{"salt", "ask-key"} {
		key, err := hkdf.Key(sha256.New, s.tape, s.commit.Commitment[:], "shuffled/v1/"+label+"\x00", 32)
		if err != nil {
			panic(err)
		}
		n.Bytes(whose+" "+label, key)
	}
}

// order adds a list that says what comes next, from a place on, by itself and next to the places.
func order(n *needle.Needles, what string, values []uint32, from int) {
	n.Values(what, values[from:], rowLen)
	var pairs []uint32
	for i := from; i < len(values); i++ {
		pairs = append(pairs, uint32(i), values[i])
	}
	n.Values(what+" by place", pairs, 2*rowLen)
}

// coDealers adds what only the co-dealer may hold of an order.
func (s *secret) coDealers(n *needle.Needles) {
	s.tapeNeedles(n, "co-dealer's")
	for i := range s.values {
		if !s.opened[i] {
			n.Piece("co-dealer's salt", s.salts[32*i:][:needle.PieceLen])
		}
	}
	order(n, "co-dealer's order", s.values, s.dealt)
	places := make([]uint32, len(s.values)) // by position
	for place, position := range s.values {
		places[position] = uint32(place)
	}
	for at := 0; at+rowLen <= len(places); at++ {
		closed := 0
		for _, p := range places[at : at+rowLen] {
			if int(p) >= s.dealt {
				closed++
			}
		}
		if closed >= 8 { // else it may be what was dealt
			n.Values("co-dealer's order by position", places[at:at+rowLen], rowLen)
		}
	}
}

// houses adds what only the house may hold of a shuffle.
func (s *secret) houses(n *needle.Needles) {
	s.tapeNeedles(n, "house's")
	for i := range s.values {
		n.Piece("house's salt", s.salts[32*i:][:needle.PieceLen])
	}
	order(n, "house's cards", s.values, 0)
}

// together adds what neither may hold: the cards of the places that come next.
func (s *secret) together(n *needle.Needles, b *secret) error {
	if s.mix == nil && len(s.commit.Context.Mixed()) > 0 {
		return nil // nobody knows them yet
	}
	places, err := audit.NewOrder(s.leaf, s.commit, s.mix)
	if err != nil {
		return err
	}
	places.Give(&audit.Deal{Runs: []audit.Run{{Count: len(b.values), Purpose: audit.PurposeBoard, Public: true}},
		Blind: &audit.Blind{Values: b.values}})
	deck, _ := shuffle.Published(s.commit.Context.DeckHash)
	var cards []uint32
	var names []string
	for i := range b.values {
		cards = append(cards, s.values[places.Position(i)])
		names = append(names, deck.Card(cards[i]))
	}
	order(n, "cards to come", cards, b.dealt)
	n.Words("cards to come", names[b.dealt:], rowLen)
	return nil
}

// search looks through both hosts, each for what only the other may hold.
type search struct {
	*pair
	houses, labs *secrets
	looks        int
	looked       int64          // bytes
	needles      int            // in all
	own          map[string]int // secrets found where they belong, by host and where
}

func newSearch(p *pair) *search {
	return &search{pair: p, houses: p.house.secrets(), labs: p.lab.secrets(), own: make(map[string]int)}
}

func (s *search) String() string {
	return fmt.Sprintf("%d looks at %d MiB for %d needles; of a host's own: %v", s.looks, s.looked>>20, s.needles, s.own)
}

func (s *search) look() {
	s.t.Helper()
	s.labs.update() // first: each order of a commit that the house's database has is in it then
	s.houses.update()
	s.labs.update()
	inHouse, inLab := needle.New(), needle.New()
	named := make(map[uint64]bool)
	for _, a := range s.houses.open {
		of, ok := a.commit.Context.CoDealer()
		b := s.labs.open[of.Index]
		if !ok || b == nil {
			s.t.Fatalf("shuffle %d has no order", a.id)
		}
		named[of.Index] = true
		b.coDealers(inHouse)
		a.houses(inLab)
		s.check(a.together(inHouse, b))
		s.check(a.together(inLab, b))
	}
	for id, b := range s.labs.open {
		if b.dealt == 0 && !named[id] { // made ahead
			b.coDealers(inHouse)
		}
	}
	s.needles += inHouse.Len() + inLab.Len()
	s.host("house", s.house, inHouse)
	s.host("co-dealer", s.lab, inLab)
	s.answers(inHouse)
	s.looks++
}

// host looks through one of the two. Its own sealing key shows that the search finds what is there.
func (s *search) host(name string, h *house, n *needle.Needles) {
	s.t.Helper()
	own, err := keys.ReadSealing(h.path("sealing.key"), keys.Secret{})
	s.check(err)
	n.Bytes("own key", own.Bytes())
	found := func(one needle.Needle, where string) {
		if one.What == "own key" {
			kind, _, _ := strings.Cut(where, " ")
			if strings.HasPrefix(kind, "/") {
				kind = "files"
			}
			s.own[name+" "+kind]++
			return
		}
		s.t.Errorf("root at the %s finds the %s, as %s, in %s", name, one.What, one.Kind, where)
	}
	s.count(n.Memory(h.daemon.cmd.Process.Pid, found))
	s.count(n.Files(h.dir, found))
	n.In([]byte(h.daemon.printed()), func(one needle.Needle, _ int) { found(one, "log") })
	if h.cluster == nil {
		return
	}
	s.count(n.Files(h.cluster.DataDir(), found))
	dump, err := testdb.Bin("pg_dump") // long values lie compressed in its files
	s.check(err)
	out, err := exec.Command(dump, "--dbname", h.super, "--data-only").Output()
	s.check(err)
	s.count(n.Read(bytes.NewReader(out), func(one needle.Needle, _ int) { found(one, "database") }))
}

// count adds what was looked at.
func (s *search) count(bytes int64, err error) {
	s.t.Helper()
	if errors.Is(err, os.ErrPermission) {
		s.t.Skipf("the memory of another process takes root: %v", err)
	}
	s.check(err)
	s.looked += bytes
}

// answers looks through what both daemons answered to the house: what it was given, and what it
// can ask the co-dealer for.
func (s *search) answers(n *needle.Needles) {
	s.t.Helper()
	for id := range s.labs.open {
		for _, what := range []string{"", "/transcript"} {
			s.hear(s.lab.get(fmt.Sprintf("/v1/main/shuffles/%d%s", id, what), s.token))
		}
	}
	n.In(s.heard, func(one needle.Needle, at int) {
		s.t.Errorf("an answer to the house holds the %s, as %s: %.80q", one.What, one.Kind, s.heard[max(0, at-40):])
	})
}

// positive wants the search to have found what each host does hold.
func (s *search) positive() {
	s.t.Helper()
	for _, where := range []string{"house memory", "house files", "co-dealer memory", "co-dealer files"} {
		if s.own[where] < s.looks {
			s.t.Errorf("%d looks found a host's own key %d times in: %s", s.looks, s.own[where], where)
		}
	}
}

// planted wants the search to find an order that lies in the daemon's memory alone: it is written into
// a request that does not end.
func (s *search) planted() {
	s.t.Helper()
	leak := rand.Perm(52)
	var values []uint32
	for _, v := range leak {
		values = append(values, uint32(v))
	}
	n := needle.New()
	order(n, "planted order", values, 0)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.house.url, "http://"))
	s.check(err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nLeak: %v\r\n", leak)
	s.check(err)
	found := false
	for end := time.Now().Add(patience); !found && time.Now().Before(end); {
		s.count(n.Memory(s.house.daemon.cmd.Process.Pid, func(needle.Needle, string) { found = true }))
	}
	if !found {
		s.t.Error("an order in the daemon's memory is not found")
	}
}
