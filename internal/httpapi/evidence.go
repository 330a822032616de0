package httpapi

import (
	"context"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
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

func keyAnswer(origin string, r audit.KeyRecord) (k Key, err error) {
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
