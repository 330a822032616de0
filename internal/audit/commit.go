package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
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
