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
	"shuffled/internal/audit/openings"
	"shuffled/internal/keys"
	"shuffled/internal/needle"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
	"shuffled/internal/testdb"
)

// rowLen is the number of consecutive values that one search looks for. There are more than 2^57
// lists of 12 out of 36 positions, so a list is not found by chance.
const rowLen = 12

// secrets are the shuffles of one ledger that are not closed. They are read from its database and
// opened with its sealing key, without a request to the daemon.
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
	opened map[int]bool // the places of a co-dealer's order that the co-dealer opened
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

// update reads the entries that were written since the last update.
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
				salts: openings.Salts(b.Commitment, tape, len(out.Values)), opened: make(map[int]bool)}
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

// tapeNeedles adds the tape and the keys that are derived from it.
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

// order adds a list of the values from a place on, once alone and once with the place before each
// value.
func order(n *needle.Needles, what string, values []uint32, from int) {
	n.Values(what, values[from:], rowLen)
	var pairs []uint32
	for i := from; i < len(values); i++ {
		pairs = append(pairs, uint32(i), values[i])
	}
	n.Values(what+" by place", pairs, 2*rowLen)
}

// coDealers adds the secrets of an order that only the co-dealer may hold.
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
		if closed >= 8 { // with fewer, the list may follow from the places that were dealt
			n.Values("co-dealer's order by position", places[at:at+rowLen], rowLen)
		}
	}
}

// houses adds the secrets of a shuffle that only the house may hold.
func (s *secret) houses(n *needle.Needles) {
	s.tapeNeedles(n, "house's")
	for i := range s.values {
		n.Piece("house's salt", s.salts[32*i:][:needle.PieceLen])
	}
	order(n, "house's cards", s.values, 0)
}

// together adds what neither of them may hold: the cards of the places that are dealt next.
func (s *secret) together(n *needle.Needles, b *secret) error {
	if s.mix == nil && len(s.commit.Context.Mixed()) > 0 {
		return nil // before the mix nobody can know these cards
	}
	places, err := openings.NewOrder(s.leaf, s.commit, s.mix)
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

// search looks through both hosts. It looks on each host for what only the other one may hold.
type search struct {
	*pair
	houses, labs *secrets
	looks        int
	looked       int64          // bytes searched
	needles      int            // the total of all looks
	own          map[string]int // how often a host's own key was found, by host and kind of place
}

func newSearch(p *pair) *search {
	return &search{pair: p, houses: p.house.secrets(), labs: p.lab.secrets(), own: make(map[string]int)}
}

func (s *search) String() string {
	return fmt.Sprintf("%d looks at %d MiB for %d needles; of a host's own: %v", s.looks, s.looked>>20, s.needles, s.own)
}

func (s *search) look() {
	s.t.Helper()
	s.labs.update()
	s.houses.update()
	s.labs.update() // again: it then has the order of every commit that the house's database has
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
		if b.dealt == 0 && !named[id] { // the co-dealer made the order ahead
			b.coDealers(inHouse)
		}
	}
	s.needles += inHouse.Len() + inLab.Len()
	s.host("house", s.house, inHouse)
	s.host("co-dealer", s.lab, inLab)
	s.answers(inHouse)
	s.looks++
}

// host looks through one host. It also looks for the host's own sealing key, which shows that the
// search finds a secret that is there.
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
	dump, err := testdb.Bin("pg_dump") // PostgreSQL compresses long values in its files
	s.check(err)
	out, err := exec.Command(dump, "--dbname", h.super, "--data-only").Output()
	s.check(err)
	s.count(n.Read(bytes.NewReader(out), func(one needle.Needle, _ int) { found(one, "database") }))
}

// count adds to the number of bytes that were searched.
func (s *search) count(bytes int64, err error) {
	s.t.Helper()
	if errors.Is(err, os.ErrPermission) {
		s.t.Skipf("the memory of another process takes root: %v", err)
	}
	s.check(err)
	s.looked += bytes
}

// answers looks through the answers of both daemons to the house: those that it got in this round,
// and those that the co-dealer gives to its token now.
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

// positive checks that each look found each host's own key, in memory and in files.
func (s *search) positive() {
	s.t.Helper()
	for _, where := range []string{"house memory", "house files", "co-dealer memory", "co-dealer files"} {
		if s.own[where] < s.looks {
			s.t.Errorf("%d looks found a host's own key %d times in: %s", s.looks, s.own[where], where)
		}
	}
}

// planted checks that the search finds an order that is only in the daemon's memory: the test sends it
// in a request that does not end.
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
