package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
)

// Commit opens a shuffle or draw: its index becomes the id (docs/SPEC.md section 5.3).
type Commit struct {
	Context    *Context
	Commitment [32]byte // hash of label, context and tape
	DeckRoot   [32]byte // over the committed positions
	Serial     uint64   // of the table, from 1
	Previous   uint64   // index of the table's previous commit, 0 for serial 1
	CloseBy    int64    // UTC milliseconds
	GameRef    string   // the operator's name for the game, or empty
	KeyTag     [32]byte // KeyTag of origin, identity, table and idempotency key
	Request    [32]byte // hash of the request, to know a repeated one
	Instance   uint64   // index of the instance_start event of the daemon that drew the tape
	AskKey     []byte   // with a co-dealer: the Ed25519 key under which it is asked; nil without one
	Extensions []Extension
}

// commitAskKey is the extension with the key under which a co-dealer is asked (docs/BLIND.md).
const commitAskKey = 1

// Type returns TypeCommit.
func (*Commit) Type() Type { return TypeCommit }

func (c *Commit) fields(k *coder) {
	if !k.writing {
		c.Context = new(Context)
	}
	k.nested("context", c.Context.fields)
	k.hash("commitment", &c.Commitment)
	k.hash("deck root", &c.DeckRoot)
	if k.u64("serial", &c.Serial); c.Serial == 0 {
		k.fail("serial", "counts from 1")
	}
	if k.u64("previous", &c.Previous); (c.Serial == 1) != (c.Previous == 0) {
		k.fail("previous", "0 for serial 1 and only then")
	}
	k.time("close-by", &c.CloseBy)
	k.nameOrNone("game reference", &c.GameRef)
	k.hash("key tag", &c.KeyTag)
	k.hash("request hash", &c.Request)
	k.u64("instance", &c.Instance)
	k.extended(&c.Extensions, &codesOfCommitExtension,
		extension{commitAskKey, "ask key", c.AskKey != nil, func(k *coder) {
			if !k.writing {
				c.AskKey = make([]byte, ed25519.PublicKeySize)
			}
			k.raw("ask key", c.AskKey)
		}})
}

// Terms name the document or the list that says what the values of a shuffle mean: the hash of a
// published document, or the root of a list of tickets (docs/SPEC.md section 5.2).
type Terms struct {
	Kind  TermsKind
	Count uint64   // TermsTicketList: tickets in the list
	Hash  [32]byte // TermsHash of the document; TermsTicketList: the root
}

// TermsHash returns the hash by which a context names a document of that kind.
func TermsHash(kind TermsKind, document []byte) [32]byte {
	return sha256.Sum256(append(append([]byte("shuffled/v1/terms\x00"), byte(kind)), document...))
}

func (t *Terms) fields(k *coder) {
	switch code(k, "terms", &t.Kind, &codesOfTerms); t.Kind {
	case TermsTicketList:
		k.u64("tickets", &t.Count)
		k.hash("root of the tickets", &t.Hash)
	default:
		k.hash("hash of the terms", &t.Hash)
	}
}

// Equal reports whether both are the same; nil is none.
func (t *Terms) Equal(u *Terms) bool { return t == u || t != nil && u != nil && *t == *u }

// Mix reveals every value of a plan (docs/SPEC.md section 5.4).
type Mix struct {
	Shuffle    uint64
	Checkpoint uint64 // size of the newest checkpoint that the house held, cosigned if the genesis asks for it
	Values     []MixValue
}

// MixValue is the value of one source.
type MixValue struct {
	Source Source
	Slot   [32]byte // SourceSlot: the bytes whose hash stood in the plan
	Beacon [48]byte // SourceBeacon: the round's signature
	Cut    uint16   // SourceCut: the offset
}

// Type returns TypeMix.
func (*Mix) Type() Type { return TypeMix }

// Beacon returns the beacon's signature, nil without one. Its place in the plan is another, behind a co-dealer.
func (m *Mix) Beacon() *[48]byte {
	i := slices.IndexFunc(m.Values, func(v MixValue) bool { return v.Source == SourceBeacon })
	if i < 0 {
		return nil
	}
	return &m.Values[i].Beacon
}

func (m *Mix) fields(k *coder) {
	k.u64("shuffle", &m.Shuffle)
	k.u64("checkpoint", &m.Checkpoint)
	n := k.count8("mix values", len(m.Values))
	k.within("mix values", n, 1, MaxSources, "1 to %d values")
	list(k, n, &m.Values, func(v, _ *MixValue) {
		code(k, "mix source", &v.Source, &codesOfSource)
		switch v.Source {
		case SourceSlot:
			k.hash("slot value", &v.Slot)
		case SourceBeacon:
			k.raw("beacon value", v.Beacon[:])
		case SourceCut:
			k.u16("cut", &v.Cut)
		case SourceCoDealer:
			k.fail("mix source", "a co-dealer has no value")
		}
	})
}

// SlotHash returns what a commit's plan says of a player's 32 bytes: SHA-256(label ‖ u8-prefixed origin ‖ u8-prefixed
// table ‖ value). Origin and table keep a value from being played a second time elsewhere (docs/SPEC.md section 4.1).
func SlotHash(origin, table string, value [32]byte) [32]byte {
	b := str8(str8([]byte(labelSlot), origin), table)
	return sha256.Sum256(append(b, value[:]...))
}

// Quicknet is the hash of drand's quicknet, the one beacon chain that this version knows. Its other
// parameters are in docs/SPEC.md section 4.4.
var Quicknet = [32]byte{0x52, 0xdb, 0x9b, 0xa7, 0x0e, 0x0c, 0xc0, 0xf6, 0xea, 0xf7, 0x80, 0x3d, 0xd0, 0x74, 0x47, 0xa1,
	0xf5, 0x47, 0x77, 0x35, 0xfd, 0x3f, 0x66, 0x17, 0x92, 0xba, 0x94, 0x60, 0x0c, 0x84, 0xe9, 0x71}

// Times of quicknet's rounds, in seconds.
const (
	quicknetGenesis = 1692803367 // of round 1, since 1970
	quicknetPeriod  = 3
)

// BeaconTime returns when a round, from 1, of a beacon chain comes out, in seconds
// since 1970; known is false for a chain that this version does not know.
func BeaconTime(chain [32]byte, round uint64) (at int64, known bool) {
	if chain != Quicknet {
		return 0, false
	}
	return quicknetGenesis + quicknetPeriod*(int64(round)-1), true
}

// BeaconRound returns the first round of quicknet that comes out after the time in UTC milliseconds.
func BeaconRound(after int64) uint64 {
	if after/1000 < quicknetGenesis {
		return 1
	}
	return uint64(after/1000-quicknetGenesis)/quicknetPeriod + 2
}
