package httpapi

import (
	"context"
	"encoding/hex"
	"errors"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/terms"
)

// GetReceipt answers with the receipt of one entry.
func (s *Server) GetReceipt(c *call, index Index) error {
	receipt, err := c.ledger.Log.Receipt(c.r.Context(), index)
	if err != nil {
		return err
	}
	return c.write("text/plain; charset=utf-8", noStore, []byte(receipt))
}

// GetCheckpoint answers with the newest signed checkpoint.
func (s *Server) GetCheckpoint(c *call) error {
	// The next batch makes it stale; a second in caches saves the log from a crowd.
	return c.write("text/plain; charset=utf-8", c.cache("max-age=1"), c.ledger.Log.Checkpoint())
}

// How long caches may keep a tile. A full tile never changes. A partial tile is soon
// followed by the full one, which readers are to use. C2SP tlog-tiles lets a log drop the
// partial one then. This log does not: it cuts it from the full one.
const (
	keepFull    = "max-age=31536000, immutable"
	keepPartial = "max-age=60"
)

// GetTile answers with a tile of hashes, addressed as in C2SP tlog-tiles.
func (s *Server) GetTile(c *call, path string) error {
	return c.tile(path, c.ledger.Log.Tile)
}

// GetEntries answers with a bundle of entries, addressed as in C2SP tlog-tiles. The bundle at an address never changes.
func (s *Server) GetEntries(c *call, path string) error {
	return c.tile("entries/"+path, c.ledger.Log.EntryBundle)
}

func (c *call) tile(path string, read func(context.Context, tlog.Tile) ([]byte, error)) error {
	tile, err := torchwood.ParseTilePath("tile/" + path)
	if err != nil || torchwood.TilePath(tile) != "tile/"+path {
		return refuse(CodeNotFound)
	}
	data, err := read(c.r.Context(), tile)
	if err != nil {
		return err
	}
	keep := keepFull
	if tile.W < 1<<torchwood.TileHeight {
		keep = keepPartial
	}
	return c.write("application/octet-stream", c.cache(keep), data)
}

// cache returns the header Cache-Control: who may keep the answer, and how.
func (c *call) cache(how string) string {
	if c.ledger.public {
		return "public, " + how
	}
	return "private, " + how
}

// GetKeys answers with the keys and policies that the ledger's entries name, oldest first. The administrators, and the
// acts that need two of them, are the answer of GetActs. A co-dealer's keys are those of its own ledger.
func (s *Server) GetKeys(c *call) error {
	g := c.ledger.Log.Genesis()
	answer := Keys{Origin: g.Origin, Production: g.Production, Keys: []Key{}}
	for _, r := range c.ledger.Log.KeyHistory().Records {
		if r.Subject == audit.SubjectAdministrator || r.Subject == audit.SubjectTwoPersons ||
			r.Subject == audit.SubjectCoDealer {
			continue
		}
		k, err := keyAnswer(g.Origin, r)
		if err != nil {
			return err
		}
		answer.Keys = append(answer.Keys, k)
	}
	return c.json(answer)
}

func keyAnswer(origin string, r trust.KeyRecord) (k Key, err error) {
	k = Key{Entry: Index(r.Index), Time: Timestamp(r.Time), Subject: KeySubject(r.Subject.String())}
	if r.Subject == audit.SubjectPolicy {
		k.Policy = new(string(r.Policy))
		return k, nil
	}
	k.ID = new(encodeHash(r.ID))
	switch r.Subject {
	case audit.SubjectSigning:
		vkey, err := audit.VKey(origin, r.Public)
		k.Vkey = &vkey
		return k, err
	case audit.SubjectRetirement:
		k.Retired, k.From = new(KeyRetired(r.Retired.String())), new(Timestamp(r.From))
	default:
		k.Public = r.Public
	}
	return k, nil
}

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
