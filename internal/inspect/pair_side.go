package inspect

import (
	"encoding/binary"
	"hash/maphash"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// The two ledgers of a pair.
const (
	sideHouse = iota
	sideCoDealer
)

// side is what the check of one ledger of a pair keeps and writes to the work files for the
// audit of both. A nil side writes nothing.
type side struct {
	which    int
	work     *pairWork
	other    string              // origin of the other ledger
	orders   map[uint64]uint64   // by id of an open shuffle of the pair: the index of its order
	illegal  map[uint64]int      // of these: how many of its deals are illegal
	claimed  map[audit.Head]bool // claims written last, at most mostClaimed
	waiting  []entryOf           // entries that no witness of both saw so far, at most mostWaiting
	newest   int64               // second at which a witness of both had cosigned
	instance uint64              // index of the newest start of a daemon
}

// mostWaiting bounds the entries that wait for a witness of both. Any more count as not seen by one.
const mostWaiting = 1 << 20

// mostClaimed bounds the claims that are remembered, so that a checkpoint that many entries hold is written once.
const mostClaimed = 1 << 16

// mostIllegal bounds the illegal deals of one shuffle that are written. A shuffle has no more legal ones.
const mostIllegal = 1 << 10

type entryOf struct{ index, order uint64 }

// pairWork are the work files of an audit of a pair: records, by order, and claims, by size.
type pairWork struct {
	seed    maphash.Seed // of the parts, so that no ledger chooses where its records go
	records workFiles
	claims  [2]workFiles // about the house's ledger, about the co-dealer's
	sizes   [2]uint64    // of the ledgers
	// common asks for one of the witnesses that both trusted policies have; nil: there is none
	common *trust.Policy
}

// Kinds of records.
const (
	recordHouse    = iota // an entry of the house
	recordCoDealer        // an entry of the co-dealer
	recordSeen            // plus the side: when a witness of both had seen the entry
	_
	recordValues // the values that the order's tape gave
)

// pairRecord is one record.
type pairRecord struct {
	recordHead
	body []byte
}

// recordHead is the part of a record of one size.
type recordHead struct {
	Kind         byte
	Order, Index uint64
	Leaf         [32]byte
	Second       int64  // recordSeen: when; an entry: newest second of a witness of both before it
	Instance     uint64 // of an entry: index of the newest start of a daemon before it
	Legal        bool   // an entry: it breaks no rule of its ledger
	Witnessed    bool   // a close of the house: the level would be witnessed without a co-dealer
	Body         uint32 // length of the body in bytes
}

func (w *pairWork) put(r pairRecord) {
	r.Body = uint32(len(r.body))
	b, err := binary.Append(nil, binary.BigEndian, r.recordHead)
	if err != nil {
		panic("inspect: a record of a pair has no encoding: " + err.Error())
	}
	w.records.put(maphash.Comparable(w.seed, r.Order), append(b, r.body...))
}

// next takes a record off the front of a part.
func next(b []byte) (r pairRecord, rest []byte, err error) {
	n, err := binary.Decode(b, binary.BigEndian, &r.recordHead)
	if err != nil {
		return r, nil, err
	}
	r.body, rest = b[n:n+int(r.Body)], b[n+int(r.Body):]
	return r, rest, nil
}

// commonAt returns the second at which a witness of both ledgers had cosigned a checkpoint, 0 if none had. For the
// co-dealer's ledger it is the second at which its whole quorum had, too: the co-dealer answers no earlier.
func (s *side) commonAt(p *point) int64 {
	if s == nil || p.complete == 0 {
		return 0
	}
	second, _ := s.work.common.CompleteAt(p.Signed)
	if second != 0 && s.which == sideCoDealer {
		second = max(second, p.complete)
	}
	return second
}

// saw takes a cosigned checkpoint that holds and has the trusted quorum.
func (s *side) saw(p *point) {
	if s == nil || p.common == 0 {
		return
	}
	s.newest = max(s.newest, p.common)
	for _, e := range s.waiting {
		s.work.put(pairRecord{recordHead: recordHead{Kind: byte(recordSeen + s.which), Order: e.order, Index: e.index,
			Second: p.common}})
	}
	s.waiting = s.waiting[:0]
}

// noteForPair writes an entry of a shuffle of the pair to the work files.
func (f *fold) noteForPair(p *parsed, index uint64, legal bool) {
	s, e := f.opts.side, p.e
	id := audit.ShuffleOf(e.Body)
	order, known := s.orders[id]
	r := pairRecord{recordHead: recordHead{Kind: byte(s.which), Index: index, Leaf: *p.leaf, Second: s.newest,
		Instance: s.instance, Legal: legal}}
	switch b := e.Body.(type) {
	case *audit.Event:
		if b.Kind == audit.EventInstanceStart {
			s.instance = index
		}
		return
	case *audit.Commit:
		if planned, ok := b.Context.CoDealer(); s.which == sideHouse {
			order, known = planned.Index, ok && planned.Origin == s.other
		} else {
			order, known = index, b.Context.ForLedger == s.other
		}
		if known {
			s.orders[index] = order
		}
	case *audit.Mix:
	case *audit.Deal:
		if !known || !legal && s.illegal[id] == mostIllegal {
			return
		}
		if !legal {
			s.illegal[id]++
		}
		if b.Blind != nil {
			s.claim(b.Blind.Head, index)
		}
		if b.Asked != nil {
			s.claim(b.Asked.Head, index)
		}
	case *audit.Close:
		if l := f.live[id]; l != nil {
			r.Witnessed = f.noLevel == "" && f.witnessed(l, id)
		}
		if known && b.Blind != nil {
			s.claim(b.Blind.Head, index)
		}
		delete(s.orders, id)
		delete(s.illegal, id)
		if short := *b; len(b.Tape) > 0 { // the tape is most of the entry, and is not needed
			short.Tape = []byte{0}
			e.Body = &short
		}
	default:
		return
	}
	if !known {
		return
	}
	if len(s.waiting) < mostWaiting {
		s.waiting = append(s.waiting, entryOf{index, order})
	}
	var err error
	if r.body, err = e.Encode(); err != nil {
		panic("inspect: an entry that was parsed has no encoding: " + err.Error())
	}
	r.Order = order
	s.work.put(r)
}

// claim writes a checkpoint of the other ledger that an entry holds, if its bundle goes so far.
func (s *side) claim(h audit.Head, index uint64) {
	if s.claimed[h] {
		return
	}
	if len(s.claimed) == mostClaimed {
		clear(s.claimed)
	}
	s.claimed[h] = true
	s.work.claims[1-s.which].claim(s.work.sizes[1-s.which], h, index)
}

// values writes the values that the tape of an order gave.
func (s *side) values(of Recomputed) {
	if of.Context.ForLedger != s.other {
		return
	}
	r := pairRecord{recordHead: recordHead{Kind: recordValues, Order: of.ID}}
	for _, v := range of.Values {
		r.body = binary.BigEndian.AppendUint32(r.body, v)
	}
	s.work.put(r)
}
