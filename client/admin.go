package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/shuffle"
)

// SetSwitch sets a kill switch and returns the proved entry. If the switch is set already, for instance by a call whose
// answer was lost, it is refused with CodeKill. An act clears it (SubmitAct).
func (c *Client) SetSwitch(ctx context.Context, req SwitchRequest) (*Appended, error) {
	return appended(ctx, c, c.setSwitch, req, "the switch is not the one that was asked for", func(e *audit.Event) bool {
		named, _ := shuffle.Named(deref(req.Deck)) // a deck that is not known here is none that was asked for
		deck := Hash(e.Deck) == *cmp.Or(req.DeckHash, new(Hash(named.Hash())))
		return e.Kind == audit.EventKillSet && e.Scope.String() == string(req.Scope) && e.Name == deref(req.Table) &&
			deck && e.Reason == req.Reason
	})
}

// Switches returns the kill switches that are set, as the daemon tells them.
func (c *Client) Switches(ctx context.Context) (*SwitchList, error) {
	return decoded[SwitchList](c.listSwitches(ctx))
}

// SetTable opens or closes a table and returns the proved entry. If the table is open or closed already, it is refused
// with CodeTable.
func (c *Client) SetTable(ctx context.Context, req TableRequest) (*Appended, error) {
	return appended(ctx, c, c.setTable, req, "the table is not the one that was asked for", func(e *audit.Event) bool {
		opens := req.Action == TableRequestActionOpen
		return e.Name == req.Table &&
			(opens && e.Kind == audit.EventTableOpen || !opens && e.Kind == audit.EventTableClose)
	})
}

// Access returns a page of the requests of regulators and administrators, as the daemon tells it. If Next is set, the
// list goes on with Next as Cursor.
func (c *Client) Access(ctx context.Context, params ListAccessParams) (*AccessList, error) {
	return decoded[AccessList](c.listAccess(ctx, params))
}

// appended makes a call that appends an entry, and returns its answer: the entry is proved,
// of type B, and what was asked for.
func appended[B audit.Body, R any](ctx context.Context, c *Client, call func(context.Context, R) ([]byte, error), req R,
	what string, fits func(B) bool) (*Appended, error) {
	when := c.command(ctx)
	answer, err := call(ctx, req)
	r := reply{when, answer}
	return held(r, err, func(told *Appended) error {
		entry, err := c.prove(ctx, told.Receipt, told.Index, r)
		if err != nil {
			return err
		}
		if body, ok := entry.Body.(B); !ok || !fits(body) || entry.index != told.Index {
			return r.fault(what, nil)
		}
		return c.own(entry, said{time: timestamp(entry.Time)}, r)
	})
}

// ChangeCredential creates or revokes a token or certificate and returns the proved entry. If it is created or revoked
// already, the call is refused with CodeCredential.
func (c *Client) ChangeCredential(ctx context.Context, req CredentialRequest) (*Appended, error) {
	var expires int64
	if req.Expires != nil {
		expires = req.Expires.UnixMilli()
	}
	created := req.Action == CredentialRequestActionCreate
	is := func(e *audit.Credential) bool {
		return e.ID == req.Credential && (e.Kind == audit.CredentialCreated) == created &&
			(!created || e.Role.String() == string(deref(req.Role)) && e.Identity == deref(req.Identity) &&
				slices.Equal(e.Tables, slices.Sorted(slices.Values(req.Tables))) && e.Expires == expires &&
				e.Digest == e.Opens(deref(req.Hash)))
	}
	return appended(ctx, c, c.changeCredential, req, "the credential is not the one that was asked for", is)
}

// Credentials returns every credential that was created, as the daemon tells them.
func (c *Client) Credentials(ctx context.Context) (*CredentialList, error) {
	return decoded[CredentialList](c.listCredentials(ctx))
}

// Acts returns who approves acts, and which acts wait, as the daemon tells it.
func (c *Client) Acts(ctx context.Context) (*Acts, error) { return decoded[Acts](c.getActs(ctx)) }

// SubmitAct appends an act of administrators and the entry that it approves, and returns the second of these entries,
// proved. An act without an entry that it approves is returned itself. An entry that an act which waits approves is
// asked for without the act. A new signing key signs all later answers: this one is the last that is proved under the
// old key. A key that the ledger cannot take is refused with CodeKey, a policy whose witnesses do not cosign now with
// CodePolicy.
func (c *Client) SubmitAct(ctx context.Context, req ActRequest) (*Appended, error) {
	wanted, body := audit.TypeAct, req.Act
	if req.Type != nil {
		wanted, body = audit.Type(*req.Type), req.Body
	}
	is := func(b audit.Body) bool { return b.Type() == wanted && bytes.Equal(audit.EncodeBody(b), body) }
	return appended(ctx, c, c.submitAct, req, "the entry is not the one that was approved", is)
}

// Keys returns the ledger's keys, policies and retirements. Each is proved under the pinned key to stand in the entry
// that it names. That none is left out, only an audit of the whole ledger shows. Do not pin a key from here.
func (c *Client) Keys(ctx context.Context) (*Keys, error) {
	answer, err := c.getKeys(ctx)
	k, err := decoded[Keys](answer, err)
	if err != nil {
		return nil, err
	}
	said := make(map[uint64][]Key)
	for i, one := range k.Keys {
		if i > 0 && one.Entry < k.Keys[i-1].Entry {
			return nil, &Fault{What: "the keys are not in their order", Answer: answer}
		}
		said[one.Entry] = append(said[one.Entry], one)
	}
	if len(said[0]) == 0 {
		return nil, &Fault{What: "the keys of the genesis are missing", Answer: answer}
	}
	for index, keys := range said {
		e, err := c.receipt(ctx, index)
		if err != nil {
			return nil, fmt.Errorf("proving the key of entry %d: %w", index, err)
		}
		told, err := json.Marshal(keys)
		want, err2 := json.Marshal(c.saidBy(e))
		if err != nil || err2 != nil || !bytes.Equal(told, want) {
			return nil, &Fault{What: fmt.Sprintf("entry %d says other keys", index), Answer: answer}
		}
		if g, ok := e.Body.(*audit.Genesis); ok &&
			(g.Origin != k.Origin || g.Origin != c.origin || g.Production != k.Production) {
			return nil, &Fault{What: "the genesis says another origin, or other than production", Answer: answer}
		}
	}
	return k, nil
}

// SaidKeys returns the ledger's keys as the daemon tells them, without any proof. It is for a person who has no key
// yet.
func (c *Client) SaidKeys(ctx context.Context) (*Keys, error) { return decoded[Keys](c.getKeys(ctx)) }

// saidBy returns what an entry says of keys, as the daemon tells it.
func (c *Client) saidBy(e proved) (keys []Key) {
	for _, r := range trust.KeyRecords(e.index, e.Entry) {
		k := Key{Subject: KeySubject(r.Subject.String()), Entry: e.index, Time: timestamp(r.Time), ID: new(Hash(r.ID))}
		switch r.Subject {
		case audit.SubjectPolicy:
			k.ID, k.Policy = nil, new(string(r.Policy))
		case audit.SubjectSigning:
			vkey, _ := audit.VKey(c.origin, r.Public) // "" for a key of another kind, which the rules forbid
			k.Vkey = &vkey
		case audit.SubjectRetirement:
			k.Retired, k.From = new(KeyRetired(r.Retired.String())), new(timestamp(r.From))
		default:
			k.Public = r.Public
		}
		keys = append(keys, k)
	}
	return keys
}
