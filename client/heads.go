package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
)

// head is a checkpoint that was accepted.
type head struct {
	audit.Checkpoint
	signed []byte
}

// heads are the checkpoints that a client accepted: at each of these sizes the ledger had this root. mu guards all
// other fields.
type heads struct {
	mu     sync.Mutex
	newest head
	// roots has the root of each size that was accepted, bounded by maxRoots. loose has those of these checkpoints that
	// newest was not yet proved to extend.
	roots map[uint64]tlog.Hash
	loose map[uint64]head
	saved []byte // what this client wrote to the State last

	tiles cache[tlog.Tile, []byte] // proved under some head; it has a lock of its own
}

// Bounds of what is remembered.
const (
	maxRoots = 4096
	maxLoose = 256 // when there are so many, they are proved
	maxTiles = 128 // of at most 8 KiB

	maxDecks, maxWheels, maxTables = 1000, 64, 4096
)

func newHeads() heads { return heads{roots: make(map[uint64]tlog.Hash), loose: make(map[uint64]head)} }

// size returns the size of the newest checkpoint.
func (h *heads) size() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.newest.Size
}

// add accepts a checkpoint whose signature was verified, or returns the accepted one of its size that has another root.
// open is false if the newest checkpoint was proved to extend it.
func (h *heads) add(n head) (contradicts *head, open bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if root, known := h.roots[n.Size]; known {
		l, loose := h.loose[n.Size]
		if !loose {
			l = h.newest
		}
		if root != n.Root {
			return &l, false
		}
		return nil, loose || n.Size == h.newest.Size
	}
	if len(h.roots) >= maxRoots {
		maps.DeleteFunc(h.roots, func(size uint64, _ tlog.Hash) bool {
			_, loose := h.loose[size]
			return !loose && size != h.newest.Size
		})
	}
	h.roots[n.Size] = n.Root
	if n.Size < h.newest.Size {
		h.loose[n.Size] = n
		return nil, true
	}
	if h.newest.Size > 0 {
		h.loose[h.newest.Size] = h.newest
	}
	h.newest = n
	return nil, true
}

// asked is what the client knew when it made a request.
type asked struct {
	since uint64       // the ledger's size, as far as it was known
	first time.Time    // of a command: when it was tried first
	again bool         // of a command: it was tried before this call
	open  *atomic.Bool // of a command: an earlier try of this call may have been done; nil: the request writes nothing
}

// command begins a request that writes.
func (c *Client) command(ctx context.Context) asked {
	a := asked{since: c.heads.size(), first: time.Now(), open: new(atomic.Bool)}
	if at, ok := ctx.Value(firstTried{}).(time.Time); ok {
		a.first, a.again = at, true
	}
	return a
}

func (c *Client) reading() asked { return asked{since: c.heads.size()} }

// before reports whether an answer is older than its request: the entry of a command stood in the ledger before, as
// only that of a repeated command does, or the checkpoint is older than the one that was known.
func (a asked) before(index, size uint64) bool {
	return index < a.since && a.open != nil || size < a.since
}

// hold accepts the checkpoint of an answer. If the answer is older than its request (past), it is accepted only when
// the newest checkpoint is proved to extend that of the answer. For a request that reads, too many that wait are
// proved, too.
func (c *Client) hold(ctx context.Context, n head, past, reads bool, answer []byte) (err error) {
	other, open := c.heads.add(n)
	if other != nil {
		return &Fault{Answer: answer, Other: other.signed,
			What: fmt.Sprintf("two checkpoints of %d entries have different roots: the ledger was forked", n.Size)}
	}
	if open && past {
		err = c.Check(ctx)
	} else if open && reads {
		err = c.check(ctx, maxLoose)
	}
	if open && err == nil {
		err = c.save()
	}
	return err
}

// Check proves, with hashes from the log's tiles, that the newest checkpoint extends every other one that the client
// accepted, so that the ledger only grew. The next checkpoint is saved without those that it proved. The client does
// this by itself when many checkpoints wait for it, before a call that writes and after one that reads, and for an
// answer under an older checkpoint than it knew. A *Fault has the two signed checkpoints that contradict each other.
func (c *Client) Check(ctx context.Context) error { return c.check(ctx, 1) }

// check is Check if at least so many checkpoints wait for it.
func (c *Client) check(ctx context.Context, least int) error {
	c.heads.mu.Lock()
	newest, loose := c.heads.newest, slices.Collect(maps.Values(c.heads.loose))
	c.heads.mu.Unlock()
	if len(loose) < least {
		return nil
	}
	tiles := &tileReader{c: c, ctx: ctx}
	hashes := tlog.TileHashReader(tlog.Tree{N: int64(newest.Size), Hash: newest.Root}, tiles)
	for _, l := range loose {
		root, err := tlog.TreeHash(int64(l.Size), hashes)
		var lacks *Fault
		switch {
		case errors.As(tiles.err, &lacks):
			lacks.Answer, lacks.Other = newest.signed, l.signed
			return lacks
		case tiles.err != nil:
			return fmt.Errorf("proving that the ledger only grew: %w", tiles.err)
		case err != nil:
			return &Fault{What: fmt.Sprintf("the log's tiles are not those of its %d entries", newest.Size),
				Answer: newest.signed, Other: l.signed, Err: err}
		case root != l.Root:
			return &Fault{What: fmt.Sprintf("the ledger of %d entries does not extend that of %d", newest.Size, l.Size),
				Answer: newest.signed, Other: l.signed}
		}
	}
	c.heads.mu.Lock()
	for _, l := range loose {
		delete(c.heads.loose, l.Size)
	}
	c.heads.mu.Unlock()
	return nil
}

// tileReader fetches the tiles of the log. tlog checks them against the root of the head, and only then calls
// SaveTiles.
type tileReader struct {
	c   *Client
	ctx context.Context
	err error // of the network, or the daemon's refusal
}

func (*tileReader) Height() int { return 8 } // of C2SP tlog-tiles

func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	var all errgroup.Group // a co-dealer may be far away
	for i, t := range tiles {
		all.Go(func() (err error) {
			var known bool
			if data[i], known = r.c.heads.tiles.get(t); !known {
				data[i], err = r.get("/log/" + r.c.ledger + "/tile/" + strings.TrimPrefix(t.Path(), "tile/8/"))
			}
			return err
		})
	}
	r.err = all.Wait()
	return data, r.err
}

// get fetches a tile. Another daemon of the same ledger may not have the tile yet. If it never comes, the ledger has
// lost what was signed.
func (r *tileReader) get(path string) (data []byte, err error) {
	lacks := func(err error) bool { e, ok := errors.AsType[*Error](err); return ok && e.Code == CodeNotFound }
	err = r.c.until(r.ctx, lacks, func() (err error) {
		data, err = r.c.send(r.ctx, request{method: http.MethodGet, path: path})
		return err
	})
	if lacks(err) && r.ctx.Err() == nil {
		err = &Fault{What: "the log lacks tiles of a checkpoint that was signed", Err: err}
	}
	return data, err
}

func (r *tileReader) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	for i, t := range tiles {
		r.c.heads.tiles.put(t, data[i], maxTiles)
	}
}

// kept is what a State holds: signed checkpoints, whose signatures are checked when they are read.
type kept struct {
	Newest string   `json:"newest"`
	Loose  []string `json:"loose,omitempty"` // newest was not yet proved to extend them
}

// save hands what is known to the State.
func (c *Client) save() error {
	if c.cfg.State == nil {
		return nil
	}
	c.heads.mu.Lock()
	defer c.heads.mu.Unlock()
	k := kept{Newest: string(c.heads.newest.signed)}
	for _, size := range slices.Sorted(maps.Keys(c.heads.loose)) {
		k.Loose = append(k.Loose, string(c.heads.loose[size].signed))
	}
	b, err := json.Marshal(k)
	if err == nil && bytes.Equal(b, c.heads.saved) {
		return nil // the receipts of one batch are all under one checkpoint
	}
	if err == nil {
		err = c.cfg.State.Save(b)
	}
	if err != nil {
		return fmt.Errorf("keeping the newest checkpoint: %w", err)
	}
	c.heads.saved = b
	return nil
}

// remember accepts the checkpoints of the State. A signature of one pinned key is enough: a checkpoint from before a
// second key was pinned lacks that key's line. Its only effect is that the ledger must extend it.
func (c *Client) remember() error {
	if c.cfg.State == nil {
		return nil
	}
	b, err := c.cfg.State.Load()
	if err != nil || b == nil {
		return err
	}
	var k kept
	if err := json.Unmarshal(b, &k); err != nil {
		return fmt.Errorf("reading the state: %w", err)
	}
	for _, signed := range append(k.Loose, k.Newest) {
		checkpoint, err := audit.OpenByAny([]byte(signed), c.keys...)
		if err != nil {
			return fmt.Errorf("reading the state: %w", err)
		}
		if other, _ := c.heads.add(head{checkpoint, []byte(signed)}); other != nil {
			return fmt.Errorf("reading the state: two checkpoints of %d entries", checkpoint.Size)
		}
	}
	return nil
}
