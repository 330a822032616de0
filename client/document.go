package client

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	meaning "shuffled/internal/terms"
)

// PutTerms has the daemon keep a document that says what values mean, and returns the terms for the request of a
// commit. The client computes the hash of the document: an answer with another hash is a *Fault.
func (c *Client) PutTerms(ctx context.Context, document TermsDocument) (*BoundTerms, error) {
	read, err := readDocument(document)
	if err != nil {
		return nil, err
	}
	answer, err := c.putTerms(ctx, document)
	kept, err := decoded[KeptTerms](answer, err)
	if err != nil {
		return nil, err
	}
	if kept.Hash != read.Hash() || string(kept.Kind) != read.Kind.String() {
		return nil, &Fault{What: "the terms that it kept are others than those that were put", Answer: answer}
	}
	return &BoundTerms{Kind: BoundTermsKind(kept.Kind), Hash: kept.Hash}, nil
}

// TermsDocument returns the document with this hash, which the client checks.
func (c *Client) TermsDocument(ctx context.Context, hash Hash) (*TermsDocument, error) {
	answer, err := c.getTerms(ctx, hex.EncodeToString(hash[:]))
	document, err := decoded[TermsDocument](answer, err)
	if err != nil {
		return nil, err
	}
	if read, err := readDocument(*document); err != nil || read.Hash() != hash {
		return nil, &Fault{What: "the document is another one than was asked for", Answer: answer}
	}
	return document, nil
}

func readDocument(d TermsDocument) (*meaning.Document, error) {
	switch {
	case d.Kind == TermsDocumentKindPayTable && d.Labels == nil:
		return meaning.NewPayTable(deref(d.Text))
	case d.Kind != TermsDocumentKindWheel || d.Text != nil:
		return nil, fmt.Errorf("terms are a %s with labels or a %s with a text, and these are a %q",
			TermsDocumentKindWheel, TermsDocumentKindPayTable, d.Kind)
	}
	labels := make([]meaning.Label, len(d.Labels))
	for i, l := range d.Labels {
		labels[i] = meaning.Label{Label: l.Label, Weight: l.Weight}
	}
	return meaning.NewWheel(labels)
}

// proveLabels checks the labels of drawn values against the wheel that the commit names. The wheel is fetched once, by
// its hash.
func (c *Client) proveLabels(ctx context.Context, s *Committed, shows []uint32, told []string, r reply) error {
	var labels []string
	if t := s.commit.Context.Terms; t != nil && t.Kind == audit.TermsWheel && len(shows) > 0 {
		wheel, err := c.wheel(ctx, t.Hash)
		if err != nil {
			return err
		}
		for _, value := range shows {
			labels = append(labels, wheel.Label(value))
		}
	}
	if !slices.Equal(labels, told) {
		return r.fault("the labels are not those of the wheel that was committed to", nil)
	}
	return nil
}

// maxWheels is how many wheels a client keeps.
const maxWheels = 64

func (c *Client) wheel(ctx context.Context, hash [32]byte) (*meaning.Document, error) {
	if known, ok := c.wheels.get(hash); ok {
		return known, nil
	}
	document, err := c.TermsDocument(ctx, hash)
	if err != nil {
		return nil, err
	}
	read, err := readDocument(*document)
	if err != nil {
		return nil, err
	}
	c.wheels.put(hash, read, maxWheels)
	return read, nil
}
