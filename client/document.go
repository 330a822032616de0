package client

import (
	"context"
	"encoding/hex"

	meaning "shuffled/internal/terms"
)

// PutTerms keeps a document that says what values mean, and returns what a request for a
// commit binds it by. The hash is computed here: an answer with another is a Fault.
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

// TermsDocument returns the document with this hash, which is checked.
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
	if d.Kind == TermsDocumentKindPayTable {
		return meaning.NewPayTable(deref(d.Text))
	}
	labels := make([]meaning.Label, len(d.Labels))
	for i, l := range d.Labels {
		labels[i] = meaning.Label{Label: l.Label, Weight: l.Weight}
	}
	return meaning.NewWheel(labels)
}
