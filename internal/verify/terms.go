package verify

import (
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/terms"
)

// terms holds the document in the file against what the commit binds, and against what was drawn from.
func (t *transcript) terms() (string, error) {
	ctx := t.commit.Context
	bound, document := ctx.Terms, t.file.Terms
	if bound != nil {
		t.v.Terms = &Terms{Kind: bound.Kind.String(), Hash: encode(bound.Hash), Count: bound.Count}
	}
	switch {
	case bound == nil || bound.Kind == audit.TermsTicketList:
		if document != nil {
			return "", errors.New("the file holds a document, and the commit binds none")
		}
		if bound == nil {
			return "", notChecked("the commit binds none: it does not say what its values mean")
		}
		return "", notChecked(fmt.Sprintf("a list of %d tickets, which this file does not hold", bound.Count))
	case document == nil:
		return "", notChecked(fmt.Sprintf("the %s is not in the file: what the values mean is not known", bound.Kind))
	}
	d, err := terms.Parse(bound.Kind, document)
	if err != nil {
		return "", err
	}
	if err := d.Of(ctx); err != nil {
		return "", err
	}
	t.means = d
	t.v.Terms.Labels, t.v.Terms.Text = d.Wheel, d.Text
	if d.Kind == audit.TermsWheel {
		return fmt.Sprintf("a wheel of %d labels, whose weights add up to %d", len(d.Wheel), d.Total()), nil
	}
	return fmt.Sprintf("a pay table of %d bytes", len(document)), nil
}

// winner says whether the house could choose the winner of a list of tickets. The house knows the list when it draws
// the tape. Without a mix that it cannot foresee, it may draw as many tapes as it likes.
func (t *transcript) winner() {
	if w := t.v.Terms; w != nil && w.Kind == audit.TermsTicketList.String() {
		w.HouseCouldChoose = !slices.ContainsFunc(t.v.Mixed, func(m Mixed) bool { return m.For == ForEverybody })
	}
}
