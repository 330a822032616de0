package httpapi

import (
	"encoding/hex"
	"errors"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/terms"
)

// termsPerDay is how many bytes of new documents an identity may have stored in a day, as many at once. Nothing deletes
// a document, as nothing deletes evidence.
const termsPerDay = 16 << 20

// PutTerms stores a document that says what drawn values mean.
func (s *Server) PutTerms(c *call) error {
	document, err := reads(c, termsDocument)
	if err != nil {
		return err
	}
	if _, err := c.ledger.Dealer.Terms(c.r.Context(), document.Hash()); errors.Is(err, ledger.ErrNotFound) {
		by, now := tokenKey{c.ledger.id, c.caller.actor.Identity}, s.cfg.Now()
		if s.termsBytes.after(by, now) > 0 {
			s.metrics.refuse(c.ledger, refusedTerms)
			return &refusal{code: CodeRateLimited, detail: "the identity " + by.token +
				" has stored 16 MiB of new documents of terms, and may store as much in a day"}
		}
		s.termsBytes.spend(by, len(document.Bytes()), now)
	}
	if err := c.ledger.Dealer.PutTerms(c.r.Context(), document); err != nil {
		return err
	}
	return c.json(KeptTerms{Kind: KeptTermsKind(document.Kind.String()), Hash: encodeHash(document.Hash())})
}

// GetTerms answers with a document.
func (s *Server) GetTerms(c *call, hash string) error {
	b, err := hex.DecodeString(hash)
	if err != nil || len(b) != 32 || hex.EncodeToString(b) != hash {
		return refuseValue("hash", "must be 64 lower-case hexadecimal digits")
	}
	document, err := c.ledger.Dealer.Terms(c.r.Context(), [32]byte(b))
	if err != nil {
		return err
	}
	answer := TermsDocument{Kind: TermsDocumentKind(document.Kind.String()), Text: optional(document.Text)}
	for _, l := range document.Wheel {
		answer.Labels = append(answer.Labels, TermsLabel{Label: l.Label, Weight: l.Weight})
	}
	return c.json(answer)
}

func termsDocument(req *TermsDocument) (*terms.Document, error) {
	switch audit.ParseTermsKind(string(req.Kind)) {
	case audit.TermsWheel:
		if req.Text != nil {
			return nil, refuseValue("text", "must be left out: a wheel has labels")
		}
		var labels []terms.Label
		for _, l := range req.Labels {
			labels = append(labels, terms.Label{Label: l.Label, Weight: l.Weight})
		}
		document, err := terms.NewWheel(labels)
		if err != nil {
			return nil, refuseValue("labels", "must keep this rule: "+err.Error())
		}
		return document, nil
	case audit.TermsPayTable:
		if req.Labels != nil {
			return nil, refuseValue("labels", "must be left out: a pay_table has a text")
		}
		document, err := terms.NewPayTable(value(req.Text))
		if err != nil {
			return nil, refuseValue("text", "must keep this rule: "+err.Error())
		}
		return document, nil
	}
	return nil, refuseWord("kind", string(req.Kind), "wheel", "pay_table")
}
