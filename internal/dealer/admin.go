package dealer

import (
	"context"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// SwitchRequest sets a kill switch. Which of the other members are set depends on the scope: none for the
// ledger, Table for a table, and Deck or DeckHash for a deck.
type SwitchRequest struct {
	Scope    audit.Scope `json:"scope"`
	Table    string      `json:"table,omitzero"`
	Deck     string      `json:"deck,omitzero"`      // published name
	DeckHash *[32]byte   `json:"deck_hash,omitzero"` // of any deck
	Reason   string      `json:"reason"`             // written to the ledger for ever
}

// Recorded is an entry that was written for an administrator.
type Recorded struct {
	Index   uint64 `json:"index"`
	Receipt string `json:"receipt"`
}

// SetSwitch sets a kill switch. Open shuffles can still be dealt. If the switch is set already, the error is an
// *audit.Illegal.
func (d *Dealer) SetSwitch(ctx context.Context, actor audit.Actor, req SwitchRequest) (Recorded, error) {
	e, err := req.event()
	if err != nil {
		return Recorded{}, err
	}
	return d.append(ctx, actor, e)
}

func (r *SwitchRequest) event() (*audit.Event, error) {
	e := &audit.Event{Kind: audit.EventKillSet, Scope: r.Scope, Reason: r.Reason}
	if r.Scope < audit.ScopeLedger || r.Scope > audit.ScopeDeck {
		return nil, noValue("scope", "must be ledger, table or deck")
	}
	if err := checkReason(r.Reason); err != nil {
		return nil, err
	}
	byTable, byDeck := r.Scope == audit.ScopeTable, r.Scope == audit.ScopeDeck
	switch {
	case !byTable && r.Table != "":
		return nil, &RequestError{"table", "must be left out, except with the scope table"}
	case !byDeck && r.Deck != "":
		return nil, &RequestError{"deck", "must be left out, except with the scope deck"}
	case !byDeck && r.DeckHash != nil:
		return nil, &RequestError{"deck_hash", "must be left out, except with the scope deck"}
	case byTable:
		if err := audit.CheckName(r.Table); err != nil {
			return nil, &RequestError{"table", err.Error()}
		}
		e.Name = r.Table
	case byDeck:
		return e, r.deck(e)
	}
	return e, nil
}

// deck puts the hash of the deck into e.
func (r *SwitchRequest) deck(e *audit.Event) error {
	switch {
	case (r.Deck == "") == (r.DeckHash == nil):
		return &RequestError{"deck", "or \"deck_hash\" must be given, and not both"}
	case r.DeckHash != nil:
		e.Deck = *r.DeckHash
		return nil
	}
	deck, ok := shuffle.Named(r.Deck)
	if !ok {
		return &RequestError{"deck", unpublished(r.Deck)}
	}
	e.Deck = deck.Hash()
	return nil
}

// SetTable opens or closes a table. If the table is so already, the error is an *audit.Illegal.
func (d *Dealer) SetTable(ctx context.Context, actor audit.Actor, table string, open bool) (Recorded, error) {
	if err := audit.CheckName(table); err != nil {
		return Recorded{}, &RequestError{"table", err.Error()}
	}
	e := &audit.Event{Kind: audit.EventTableClose, Name: table}
	if open {
		e.Kind = audit.EventTableOpen
	}
	return d.append(ctx, actor, e)
}

// ChangeCredential creates or revokes a token or certificate. If it is so already, the error is an *audit.Illegal.
func (d *Dealer) ChangeCredential(ctx context.Context, actor audit.Actor, c *audit.Credential) (Recorded, error) {
	if c.Kind == audit.CredentialRevoked {
		if err := checkReason(c.Reason); err != nil {
			return Recorded{}, err
		}
	}
	return d.append(ctx, actor, c)
}

func checkReason(reason string) error {
	if err := audit.CheckReason(reason); err != nil {
		return &RequestError{"reason", err.Error()}
	}
	if strings.TrimSpace(reason) == "" {
		return &RequestError{"reason", "must say why"}
	}
	return nil
}

// append writes the bodies in one batch and returns the last entry.
func (d *Dealer) append(ctx context.Context, actor audit.Actor, events ...audit.Body) (Recorded, error) {
	appended, err := d.cfg.Ledger.Append(ctx, ledger.Proposal{Actor: actor, Bodies: events})
	if err != nil {
		return Recorded{}, err
	}
	last := appended[len(appended)-1]
	return Recorded{Index: last.Index, Receipt: last.Receipt.Text()}, nil
}
