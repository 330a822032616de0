package httpapi

import (
	"context"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"
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
