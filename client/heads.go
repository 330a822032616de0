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

	"shuffled/internal/audit"
)

// head is a checkpoint that was accepted.
type head struct {
	audit.Checkpoint
	signed []byte
}

// heads is what a client knows of the ledger's history: that it once was as in
// each of these checkpoints. All fields are under mu.
type heads struct {
	mu     sync.Mutex
	newest head
	// roots are those of sizes that were accepted, bounded by maxRoots; loose are
	// the ones among them that newest was not yet proved to extend.
	roots map[uint64]tlog.Hash
	loose map[uint64]head
	tiles map[tlog.Tile][]byte // proved under some head, bounded by maxTiles
	saved []byte               // what the State holds, as far as this client wrote it
}

// Bounds of what is remembered.
const (
	maxRoots = 4096
	maxLoose = 256 // then the next call proves them first
	maxTiles = 128 // of at most 8 KiB
)

func newHeads() heads {
	return heads{roots: make(map[uint64]tlog.Hash), loose: make(map[uint64]head), tiles: make(map[tlog.Tile][]byte)}
}

// size returns that of the newest checkpoint.
func (h *heads) size() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.newest.Size
}

// add accepts a checkpoint whose signature holds, unless another one of its size
// has another root. open is false for one that the newest was proved to extend.
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

// asked says when a request was made: since is the size that was known then.
type asked struct {
	since uint64
	read  bool         // it writes nothing
	first time.Time    // of a command: when it was tried first
	again bool         // it was tried before this call
	open  *atomic.Bool // an earlier try of this call may have been done
}

func (c *Client) command(ctx context.Context) asked {
	first, again := began(ctx)
	return asked{since: c.heads.size(), first: first, again: again, open: new(atomic.Bool)}
}
func (c *Client) reading() asked { return asked{since: c.heads.size(), read: true} }

// before reports whether an answer is of the past: a command's entry was written
// before the request, as only a repeated one's is, or what was read is under an
// older checkpoint than was known.
func (a asked) before(index, size uint64) bool {
	return index < a.since && !a.read || size < a.since
}

// hold accepts the checkpoint of an answer. One of the past is believed only when
// the newest checkpoint is proved to extend its own.
func (c *Client) hold(ctx context.Context, n head, past bool, answer []byte) error {
	other, open := c.heads.add(n)
	if other != nil {
		return &Fault{What: fmt.Sprintf("two checkpoints of %d entries have different roots: the ledger was forked",
			n.Size),
			Answer: answer, Other: other.signed}
	}
	if !open {
		return nil
	}
	if past {
		if err := c.Check(ctx); err != nil {
			return err
		}
	}
	return c.save()
}

// Check proves, with hashes from the log's tiles, that the newest checkpoint
// extends every other one that the client accepted, so that the ledger only grew
// since. The client does it by itself before a call when many wait, and for an
// answer under an older checkpoint than it had. A *Fault holds the two signed
// checkpoints that contradict each other.
func (c *Client) Check(ctx context.Context) error {
	c.heads.mu.Lock()
	newest, loose := c.heads.newest, slices.Collect(maps.Values(c.heads.loose))
	c.heads.mu.Unlock()
	if len(loose) == 0 {
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
	return c.save()
}

// checkSometimes is Check when many checkpoints wait for it.
func (c *Client) checkSometimes(ctx context.Context) error {
	c.heads.mu.Lock()
	n := len(c.heads.loose)
	c.heads.mu.Unlock()
	if n < maxLoose {
		return nil
	}
	return c.Check(ctx)
}

// tileReader fetches the tiles of the log. tlog holds them against the head's
// root, and only then calls SaveTiles.
type tileReader struct {
	c   *Client
	ctx context.Context
	err error // of the network, or the daemon's refusal
}

func (*tileReader) Height() int { return 8 } // of C2SP tlog-tiles

func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, t := range tiles {
		r.c.heads.mu.Lock()
		data[i] = r.c.heads.tiles[t]
		r.c.heads.mu.Unlock()
		if data[i] != nil {
			continue
		}
		path := "/log/" + r.c.ledger + "/tile/" + strings.TrimPrefix(t.Path(), "tile/8/")
		if data[i], r.err = r.get(path); r.err != nil {
			return nil, r.err
		}
	}
	return data, nil
}

// get fetches a tile. Another daemon of the same ledger may not have it yet; one
// that never gets it has lost what it signed.
func (r *tileReader) get(path string) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		data, err := r.c.send(r.ctx, request{method: http.MethodGet, path: path})
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeNotFound {
			return data, err
		}
		if attempt == r.c.cfg.Attempts {
			return nil, &Fault{What: "the log lacks tiles of a checkpoint that was signed", Err: err}
		}
		if ctxErr := sleep(r.ctx, r.c.pause(attempt)); ctxErr != nil {
			return nil, fmt.Errorf("%w, after: %w", ctxErr, err)
		}
	}
}

func (r *tileReader) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	r.c.heads.mu.Lock()
	defer r.c.heads.mu.Unlock()
	h := &r.c.heads
	if len(h.tiles)+len(tiles) > maxTiles {
		clear(h.tiles)
	}
	for i, t := range tiles {
		if t.W == 1<<t.H { // a full one never changes
			h.tiles[t] = data[i]
		}
	}
}

// kept is what a State holds: signed checkpoints, which prove themselves.
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

// remember takes up what the State has. One pinned key is enough there: a checkpoint from
// before a key was pinned alongside another lacks that key's line, and all that it does is
// that the ledger must extend it.
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
