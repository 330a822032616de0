package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/terms"
)

// PutTerms keeps a document of terms. Commits may name it from then on.
func (d *Dealer) PutTerms(ctx context.Context, document *terms.Document) error {
	err := d.cfg.Store.PutTerms(ctx, d.cfg.Ledger.ID(), ledger.Terms{Hash: document.Hash(), Kind: document.Kind,
		Bytes: document.Bytes()})
	if err != nil {
		return fmt.Errorf("keeping the terms: %w", ledger.Unavailable(err))
	}
	return nil
}

// Terms returns the document of terms with this hash, or ledger.ErrNotFound.
func (d *Dealer) Terms(ctx context.Context, hash [32]byte) (*terms.Document, error) {
	kept, err := d.cfg.Store.Terms(ctx, d.cfg.Ledger.ID(), hash)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("reading the terms: %w", ledger.Unavailable(err))
	}
	document, err := terms.Parse(kept.Kind, kept.Bytes)
	if err != nil || document.Hash() != hash {
		return nil, stops.With(fmt.Errorf("%w: the stored terms %x have another hash", ledger.ErrUnavailable, hash), stops.Altered)
	}
	return document, nil
}

// checkTerms refuses a commit whose terms do not fit it, or whose document the store does not have:
// its values would have no meaning. A child has the terms of its parent, which were checked.
func (d *Dealer) checkTerms(ctx context.Context, c *audit.Context) error {
	t := c.Terms
	if t == nil || c.Parent != nil {
		return nil
	}
	if t.Kind == audit.TermsTicketList {
		if !c.IsNumbers() || t.Count != uint64(c.Of) {
			return api.Invalid("terms.count", "must be the same as numbers.of: each ticket has one number")
		}
		if _, ok := c.Beacon(); c.Production && !ok {
			return api.Invalid("mix", "must have a beacon when tickets are drawn in production: without it the house, "+
				"which knows the list, could choose the winner")
		}
		return nil
	}
	switch {
	case t.Kind == 0:
		return api.NoValue("terms.kind", "must be wheel, pay_table or ticket_list")
	case t.Count != 0:
		return api.NoValue("terms.count", "must be left out, except for a ticket_list")
	}
	document, err := d.Terms(ctx, t.Hash)
	if errors.Is(err, ledger.ErrNotFound) {
		return api.Invalid("terms.hash", "must be the hash of a document that this ledger has: PUT it to terms first")
	}
	if err != nil {
		return err
	}
	if t.Kind == audit.TermsWheel {
		if !c.IsDraw() || c.IsNumbers() {
			return api.Invalid("terms", "must be a wheel for ranges only")
		}
		total := document.Total()
		if i := slices.IndexFunc(c.Recipe.Ranges, func(k uint32) bool { return k != total }); i >= 0 {
			return api.Invalid(fmt.Sprintf("ranges[%d]", i),
				fmt.Sprintf("must be %d, which the weights of the wheel add up to, and is %d", total,
					c.Recipe.Ranges[i]))
		}
	}
	if err := document.Of(c); err != nil {
		return api.Invalid("terms", "must fit the shuffle that is committed: "+err.Error())
	}
	return nil
}

// wheel returns the wheel that the terms of a shuffle name, nil if they name none. The values have no
// meaning without it, so a deal fails if the stored wheel is missing or another one.
func (d *Dealer) wheel(ctx context.Context, id uint64, t *audit.Terms) (*terms.Document, error) {
	if t == nil || t.Kind != audit.TermsWheel {
		return nil, nil
	}
	if known, ok := d.wheels.Get(t.Hash); ok {
		return known, nil
	}
	document, err := d.Terms(ctx, t.Hash)
	if err != nil {
		return nil, fmt.Errorf("reading the wheel of shuffle %d: %w", id, err)
	}
	d.wheels.Add(t.Hash, document)
	return document, nil
}

// cards opens places. Of draws it also returns what they show, and of a wheel the labels of that.
func (d *Dealer) cards(ctx context.Context, r *record.Record, t *record.Opened, places []int) (cards []openings.Card,
	shows []uint32, labels []string, err error) {
	names, err := d.shuffles.DeckNames(ctx, r.Commit.Context)
	if err != nil {
		return nil, nil, nil, err
	}
	wheel, err := d.wheel(ctx, r.ID, r.Commit.Context.Terms)
	for _, place := range places {
		cards = append(cards, t.Card(names, place))
		if t.Shows == nil {
			continue
		}
		if shows = append(shows, t.Shows[place]); wheel != nil {
			labels = append(labels, wheel.Label(t.Shows[place]))
		}
	}
	return cards, shows, labels, err
}

// document is that of a shuffle's terms; nil without one.
func (d *Dealer) document(ctx context.Context, t *audit.Terms) ([]byte, error) {
	if t == nil || t.Kind == audit.TermsTicketList {
		return nil, nil
	}
	document, err := d.Terms(ctx, t.Hash)
	if err != nil {
		return nil, fmt.Errorf("reading the terms: %w", err)
	}
	return document.Bytes(), nil
}
