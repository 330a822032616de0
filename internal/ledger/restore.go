package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// restore goes on from the cache, if there is one that holds, so that only the entries
// from there on are folded; without one it changes nothing. What does not hold is
// passed over, and costs time: the entries themselves say whether the ledger is
// damaged.
func (l *Ledger) restore(ctx context.Context, head Head) error {
	file, err := os.Open(cachePath(l.cfg.Mark))
	if errors.Is(err, os.ErrNotExist) {
		if head.Size >= 2*l.cfg.CacheEvery {
			l.cfg.Log.Warn("no cache of the state to begin from: folding all entries",
				"ledger", l.cfg.Info.Name, "size", head.Size)
		}
		return nil
	}
	if err == nil {
		err = l.restoreFrom(ctx, head, file)
		file.Close()
	}
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Error("the cache of the state does not hold: folding all entries",
			"ledger", l.cfg.Info.Name, "size", head.Size, "error", err)
	}
	return ctx.Err()
}

// restoreFrom makes a cache what memory knows. On an error nothing has changed.
func (l *Ledger) restoreFrom(ctx context.Context, head Head, file *os.File) error {
	header, state, err := l.readCache(head, file)
	if err != nil {
		return err
	}
	under := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.ownTiles(ctx))
	edge, err := edgeAt(under, header.Size)
	if err != nil {
		return err
	}
	whole, err := edge.extend(nil)
	if err != nil {
		return err
	}
	switch root, err := whole.root(); {
	case err != nil:
		return err
	case root != header.Root:
		return fmt.Errorf("it is of another tree of %d entries", header.Size)
	}
	row, err := l.row(ctx, 0)
	if err != nil {
		return err
	}
	genesis, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return err
	}
	if sha256.Sum256(row.Entry) != header.Genesis {
		return errors.New("it is of another genesis")
	}
	history, err := l.historyOf(ctx, under, genesis, state.KeyEntries())
	if err != nil {
		return err
	}
	l.genesis, l.genesisHash = genesis, header.Genesis
	l.state, l.history, l.tree = state, history, edge
	l.cache.size, l.cache.key = header.Size, l.signerInForce()
	return nil
}

// readCache reads a cache that was written under the signing key of head, or one of
// two if the head hands on, and is of no more entries than head.
func (l *Ledger) readCache(head Head, file *os.File) (header cacheHeader, state *audit.State, err error) {
	info, err := file.Stat()
	if err != nil {
		return header, nil, err
	}
	err = errCacheMAC
	for _, s := range l.signersOf(head) {
		key, keyErr := cacheKey(s)
		if keyErr != nil {
			return header, nil, keyErr
		}
		if _, err = file.Seek(0, 0); err != nil {
			return header, nil, err
		}
		in, from, left := bufio.NewReaderSize(file, 1<<16), newFrames(key), info.Size()
		first, readErr := from.read(in, nil, &left)
		if err = readErr; errors.Is(err, errCacheMAC) {
			continue
		}
		if err == nil {
			_, err = binary.Decode(first, binary.BigEndian, &header)
		}
		if err == nil && (header.Size == 0 || header.Size > head.Size) {
			err = fmt.Errorf("it is of %d entries, and the ledger has %d", header.Size, head.Size)
		}
		if err != nil {
			return header, nil, err
		}
		state, err = readCopy(in, from, &left)
		if err == nil && state.Size() != header.Size {
			err = fmt.Errorf("it names %d entries and is of %d", header.Size, state.Size())
		}
		return header, state, err
	}
	return header, nil, err
}

// readCopy reads a saved state up to the empty frame.
func readCopy(in *bufio.Reader, from *frames, left *int64) (*audit.State, error) {
	var stream bytes.Buffer
	pieces, room := gob.NewDecoder(&stream), []byte(nil)
	// next reads a frame and what it holds; more is false at the empty one.
	next := func(into any) (more bool, err error) {
		if room, err = from.read(in, room, left); err != nil || len(room) == 0 {
			return false, err
		}
		stream.Write(room)
		return true, pieces.Decode(into)
	}
	var saved audit.Saved
	if more, err := next(&saved); err != nil || !more {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	state, err := audit.Restore(&saved)
	for err == nil {
		var piece []audit.SavedShuffle
		more, err := next(&piece)
		if err != nil || !more {
			return state, err
		}
		for _, o := range piece {
			if err := state.Reopen(o); err != nil {
				return nil, err
			}
		}
	}
	return nil, err
}

// signersOf returns those of this daemon's Ed25519 keys that signed a head. Whether they did
// is for checkHead, when the entries are folded.
func (l *Ledger) signersOf(head Head) (signers []note.Signer) {
	for line := range strings.Lines(string(head.Checkpoint)) {
		for _, s := range l.cfg.Signers {
			_, mldsa := s.(verifying)
			if !mldsa && gateway.SignerOf(line) == gateway.Signer(s) && !slices.Contains(signers, s) {
				signers = append(signers, s)
			}
		}
	}
	return signers
}

// edgeAt returns the tree of the first size entries, from tiles: the nodes of those
// that are not full at that size.
func edgeAt(under tlog.HashReader, size uint64) (*tree, error) {
	var nodes []int64
	for level := 0; size>>level > 0; level++ {
		tile := size >> (level - level%tileHeight) &^ (tileWidth - 1) // first hash of the last tile's lowest row
		for n := tile >> (level % tileHeight); n < size>>level; n++ {
			nodes = append(nodes, tlog.StoredHashIndex(level, int64(n)))
		}
	}
	hashes, err := under.ReadHashes(nodes)
	if err != nil {
		return nil, fmt.Errorf("reading the right edge at size %d: %w", size, err)
	}
	t := newTree()
	t.size, t.known = int64(size), int64(size)
	for i, n := range nodes {
		t.nodes[n] = hashes[i]
	}
	return t, nil
}
