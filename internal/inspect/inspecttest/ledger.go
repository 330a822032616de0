// Package inspecttest writes ledgers straight into bundles, honest ones and ones whose house cheats: it has the keys of
// the house, of its witnesses and of an auditor, and signs whatever it is told to. It is for tests and benchmarks.
package inspecttest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/bundle"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// Origin is that of ledgers here whose genesis has none.
const Origin = "inspect.example/ledger"

// Start is the time of entry 0, UTC milliseconds.
const Start int64 = 1_790_000_000_000

// came are the signing keys that came later.
type came struct {
	keyCount int      // of Ed25519
	long     *LongKey // signs as well, if there is one
}

// Ledger is a bundle that is being written. Its methods panic when the disk
// fails or an entry has no encoding: a test has no use for it then.
type Ledger struct {
	Dir   string
	Now   int64        // time of the next entry
	State *rules.State // of the entries so far, the illegal ones forced in
	Size  uint64
	Leaf  tlog.Hash // of the newest entry

	Illegal []string // rules that entries broke, in order

	origin   string
	dealer   audit.Actor // who writes what is of shuffles
	signing  ed25519.PrivateKey
	frontier []*tlog.Hash // by level: the newest full subtree without a sibling
	tiles    [8][]byte
	entries  []byte
	cosigned [][]byte
	signed   [][]byte
	decks    map[[32]byte]bool
	stream   cipher.Stream
	serials  map[string][2]uint64
	came
	Saw *audit.Head // what acts name; nil: the newest
}

// Key returns an Ed25519 key that a name gives.
func Key(name string) ed25519.PrivateKey {
	h := sha256.Sum256([]byte("inspecttest " + name))
	return ed25519.NewKeyFromSeed(h[:])
}

// Public returns a signing key as it stands in an entry.
func Public(k ed25519.PrivateKey) []byte {
	return append([]byte{1}, k.Public().(ed25519.PublicKey)...)
}

// New begins a ledger in dir with this genesis, whose origin and signing key are filled in if it has none, with the
// start of a daemon, entry 1, and with the credential of Dealer, entry 2. The seed makes tapes.
func New(dir, seed string, g audit.Genesis) *Ledger { return NewAt(dir, seed, g, Start) }

// NewAt is New with another time of entry 0, UTC milliseconds.
func NewAt(dir, seed string, g audit.Genesis, at int64) *Ledger {
	key := sha256.Sum256([]byte("inspecttest tapes " + seed))
	block, err := aes.NewCipher(key[:])
	must(err)
	if g.Origin == "" {
		g.Origin = Origin
	}
	l := &Ledger{Dir: dir, Now: at, State: rules.NewState(), origin: g.Origin, dealer: Dealer,
		signing: firstKey(g.Origin),
		decks:   make(map[[32]byte]bool), serials: make(map[string][2]uint64),
		stream: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
	if g.SigningKey == nil {
		g.SigningKey = Public(l.signing)
	}
	l.Append(&g)
	l.Start()
	l.Hire(Dealer, audit.RoleDealer)
	return l
}

// Administrators are the two of Plain, with the acts that both must sign.
func Administrators(g *audit.Genesis) {
	for _, name := range administrators {
		g.Administrators = append(g.Administrators,
			audit.Administrator{Name: name, Key: Public(Key("administrator " + name))})
	}
	g.TwoPersons = []audit.Act{audit.ActAdministrator, audit.ActAdminCredential, audit.ActTakeover, audit.ActTwoPersons,
		audit.ActCoDealer}
	g.Delay = 86_400
}

var administrators = []string{"alice", "bob"}

// Hire makes the credential of an actor.
func (l *Ledger) Hire(who audit.Actor, role audit.Role) {
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: who.Credential, Form: audit.FormToken, Role: role,
		Identity: who.Identity}
	c.Digest = c.Opens([32]byte(l.Bytes(32)))
	if role == audit.RoleAdmin {
		l.Approve(audit.Daemon.Identity, c)
	}
	l.Append(c)
}

// Approve writes the act by which both administrators approve an entry of this identity.
func (l *Ledger) Approve(identity string, body audit.Body) {
	act, ok := audit.ActFor(body)
	if !ok {
		panic(fmt.Sprintf("no act approves a %T", body))
	}
	l.Act(act, audit.Approved(identity, body), administrators...)
}

// Plain is a genesis without witnesses and auditors.
func Plain() audit.Genesis {
	g := audit.Genesis{Revision: audit.Revision, Production: true, Deals: audit.DealsSigned, MixModes: 7,
		Disclosure:     audit.DisclosurePublic,
		DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: audit.AccessPublic}
	Administrators(&g)
	return g
}

// Start writes the start of a daemon and returns its index.
func (l *Ledger) Start() uint64 {
	return l.Append(&audit.Event{Kind: audit.EventInstanceStart, Build: [32]byte(l.Bytes(32)),
		Config: [32]byte(l.Bytes(32)), Name: "1.0.0"})
}

// Bytes returns n bytes that the seed gives, others each time.
func (l *Ledger) Bytes(n int) []byte {
	b := make([]byte, n)
	l.stream.XORKeyStream(b, b)
	return b
}

// Append writes an entry of the ledger's time, legal or not, and returns its index.
func (l *Ledger) Append(body audit.Body) uint64 {
	who := actorOf(body)
	if who == Dealer {
		who = l.dealer
	}
	return l.AppendEntry(audit.Entry{Time: l.Now, Actor: who, Body: l.State.Counted(body)})
}

// AppendEntry writes an entry.
func (l *Ledger) AppendEntry(e audit.Entry) uint64 {
	b, err := e.Encode()
	must(err)
	if err := l.State.Apply(e); err != nil {
		l.Illegal = append(l.Illegal, strings.SplitN(err.Error(), ":", 2)[0])
		l.State.Force(e)
	}
	l.State.Commit()
	return l.AppendBytes(b)
}

// AppendBytes writes bytes as an entry, whatever they are.
func (l *Ledger) AppendBytes(b []byte) uint64 {
	l.entries = append(binary.BigEndian.AppendUint16(l.entries, uint16(len(b))), b...)
	l.Leaf = tlog.RecordHash(b)
	l.add(l.Leaf)
	l.Size++
	if l.Size%bundle.Width == 0 {
		l.write(path(-1, l.Size/bundle.Width-1, bundle.Width), l.entries)
		l.entries = l.entries[:0]
	}
	return l.Size - 1
}

// AppendLost counts an entry that the state cannot read.
func (l *Ledger) AppendLost(b []byte) uint64 {
	l.State.Force(audit.Entry{})
	return l.AppendBytes(b)
}

// add puts a leaf into the tree, and full tiles into files.
func (l *Ledger) add(h tlog.Hash) {
	for level, n := 0, l.Size; ; level, n = level+1, n/2 {
		if level%8 == 0 {
			t := level / 8
			l.tiles[t] = append(l.tiles[t], h[:]...)
			if len(l.tiles[t]) == bundle.Width*tlog.HashSize {
				l.write(path(t, n/bundle.Width, bundle.Width), l.tiles[t])
				l.tiles[t] = l.tiles[t][:0]
			}
		}
		for len(l.frontier) <= level {
			l.frontier = append(l.frontier, nil)
		}
		if n%2 == 0 {
			l.frontier[level] = &h
			return
		}
		h = tlog.NodeHash(*l.frontier[level], h)
		l.frontier[level] = nil
	}
}

// Root returns the root of all entries so far.
func (l *Ledger) Root() tlog.Hash {
	var root *tlog.Hash
	for level, h := range l.frontier {
		switch {
		case l.Size>>level&1 == 0:
		case root == nil:
			r := *h
			root = &r
		default:
			r := tlog.NodeHash(*h, *root)
			root = &r
		}
	}
	return *root
}

// path is that of a tile, or of a file of entries at level -1.
func path(level int, index uint64, width int) string {
	p := strings.TrimPrefix(tlog.Tile{H: 8, L: level, N: int64(index), W: width}.Path(), "tile/8/")
	if level < 0 {
		p = "entries" + strings.TrimPrefix(p, "data")
	}
	return "tile/" + p
}

// Deck puts a deck into the bundle and returns its hash.
func (l *Ledger) Deck(d shuffle.Deck) [32]byte {
	hash := d.Hash()
	if !l.decks[hash] {
		l.decks[hash] = true
		l.write(fmt.Sprintf("decks/%x.txt", hash), []byte(strings.Join(d.Cards(), "\n")+"\n"))
	}
	return hash
}

// Terms puts a document into the bundle and returns what binds a shuffle to it.
func (l *Ledger) Terms(d *terms.Document) *audit.Terms {
	l.write(fmt.Sprintf("terms/%x", d.Hash()), d.Bytes())
	return &audit.Terms{Kind: d.Kind, Hash: d.Hash()}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Dealer writes what is of shuffles, Admin the close of what lost its tape.
var (
	Dealer = audit.Actor{Identity: "dealer", Credential: "dealer-1"}
	Admin  = audit.Actor{Identity: "admin", Credential: "admin-1"}
)

// actorOf is who writes an entry with this body: the dealer what is of shuffles, except that the daemon closes what
// expired and an administrator what lost its tape, and the daemon everything else.
func actorOf(body audit.Body) audit.Actor {
	switch b := body.(type) {
	case *audit.Close:
		switch {
		case b.Outcome == audit.OutcomeExpired:
			return audit.Daemon
		case b.Reason == audit.ReasonTapeLost:
			return Admin
		}
		return Dealer
	case *audit.Commit, *audit.Mix, *audit.Deal, *audit.Takeover, *audit.Reveal, *audit.DisclosureEntry:
		return Dealer
	}
	return audit.Daemon
}
