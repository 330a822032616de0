package sequencer

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
	"shuffled/internal/process"
	"shuffled/internal/witness/gateway"
)

// The cache is a file alongside the high-water mark. It holds the state after all entries below a size, and Open goes
// on from there. It is no evidence. It may be deleted at any time: then Open folds all entries.
//
// Open uses the cache only if a daemon that held the signing key of the stored head wrote it for this ledger. The cache
// names genesis, size and root of the tree, and every frame has a MAC under a key that is derived from that signing
// key. So an edited database cannot change the cache, and an edited file cannot make anybody an administrator.
//
// The file is a sequence of frames. A frame is a u32 length, the bytes, and a MAC over the MAC of the frame before and
// the bytes. The first frame is a cacheHeader. Then come an rules.Saved and the pieces of its rules.Copy, in one stream
// of encoding/gob. An empty frame ends the file.

// cachePieces is how many open shuffles are copied between two batches. That takes half a millisecond.
const cachePieces = 1024

const labelCache = "shuffled/v1/cache\x00"

// cacheHeader is what a cache is bound to.
type cacheHeader struct {
	Genesis [32]byte // SHA-256 of the genesis entry
	Size    uint64
	Root    [32]byte // of the tree of that size
}

// cacheKey derives the MAC key from a signing key: from its signature of a fixed text, which
// is no checkpoint. The signature does not leave this function.
func cacheKey(s note.Signer) ([]byte, error) {
	secret, err := s.Sign([]byte(labelCache))
	if err != nil {
		return nil, fmt.Errorf("deriving the key of the cache: %w", err)
	}
	return hkdf.Key(sha256.New, secret, nil, labelCache, sha256.Size)
}

// frames authenticates frames, in either direction.
type frames struct {
	mac  hash.Hash
	last []byte // MAC of the frame before
}

func newFrames(key []byte) *frames { return &frames{mac: hmac.New(sha256.New, key)} }

func (f *frames) next(b []byte) []byte {
	f.mac.Reset()
	f.mac.Write(f.last)
	f.mac.Write(b)
	f.last = f.mac.Sum(nil)
	return f.last
}

func (f *frames) write(w io.Writer, b []byte) error {
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(b)))
	for _, part := range [][]byte{length[:], b, f.next(b)} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

var errCacheMAC = errors.New("the cache was not written under the signing key of the stored head, or was changed")

// read returns the bytes of the next frame. left is how many bytes of the file are left; b
// is room that may be used again.
func (f *frames) read(r io.Reader, b []byte, left *int64) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	if *left -= 4 + n + sha256.Size; *left < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if int64(cap(b)) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	var mac [sha256.Size]byte
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, mac[:]); err != nil {
		return nil, err
	}
	if !hmac.Equal(mac[:], f.next(b)) {
		return nil, errCacheMAC
	}
	return b, nil
}

// run writes caches until the ledger is closed.
func (c *caching) run() {
	for {
		select {
		case <-c.l.life.Running.Done():
			return
		case <-c.due:
		}
		if err := c.write(); err != nil && c.l.life.Running.Err() == nil {
			c.l.cfg.Log.Warn("the cache of the state could not be written: the next start takes longer",
				"ledger", c.l.cfg.Info.Name, "error", err)
		}
	}
}

// wake has a cache written if one is due. It runs on the sequencer's goroutine, when a head is published.
func (c *caching) wake() {
	l := c.l
	next := c.size + max(l.cfg.CacheEvery, uint64(l.memory.State.OpenCount()/2))
	rotated := c.size > 0 && c.key != string(l.memory.State.SigningKey())
	if !l.begun() || l.memory.State.Size() < next && !rotated {
		return
	}
	select {
	case c.due <- struct{}{}:
	default:
	}
}

// write copies the state and replaces the cache with the copy.
func (c *caching) write() error {
	l := c.l
	var from *rules.Copy
	var header cacheHeader
	var saved *rules.Saved
	var s note.Signer
	err := l.Ask(l.life.Running, func() {
		c.size, c.key = l.memory.Head.Size, string(l.memory.State.SigningKey())
		if s = l.signer(l.shown.Keys.Load().InForce()[0].Key); s != nil {
			header = cacheHeader{l.shown.GenesisHash, l.memory.Head.Size, l.memory.Head.Root}
			from, saved = l.memory.State.Copy()
		}
	})
	if err != nil || s == nil {
		return err
	}
	defer l.Ask(l.life.Running, func() { from.End() })
	key, err := cacheKey(s)
	if err != nil {
		return err
	}
	return process.ReplaceFile(cachePath(l.cfg.Mark), 0o600, func(out io.Writer) error {
		to := newFrames(key)
		var frame bytes.Buffer
		stream := gob.NewEncoder(&frame)
		put := func(piece any) error {
			frame.Reset()
			return errors.Join(stream.Encode(piece), to.write(out, frame.Bytes()))
		}
		encoded, _ := binary.Append(nil, binary.BigEndian, header)
		if err := errors.Join(to.write(out, encoded), put(saved)); err != nil {
			return err
		}
		for {
			var piece []rules.SavedShuffle
			var err error
			asked := l.Ask(l.life.Running, func() { piece, err = from.More(cachePieces) })
			if err = errors.Join(asked, err); err != nil {
				return err
			}
			if len(piece) == 0 {
				return to.write(out, nil)
			}
			if err := put(piece); err != nil {
				return err
			}
		}
	})
}

// readCache reads a cache of at most as many entries as head. It must be written under the
// Ed25519 key that signed head, or under one of the two if a rotation ends at head.
func (l *Ledger) readCache(head ledger.Head, file *os.File) (header cacheHeader, state *rules.State, err error) {
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
			err = fmt.Errorf("the cache is of %d entries, and the ledger has %d", header.Size, head.Size)
		}
		if err != nil {
			return header, nil, err
		}
		state, err = readCopy(in, from, &left)
		if err == nil && state.Size() != header.Size {
			err = fmt.Errorf("the cache names %d entries, and its state is of %d", header.Size, state.Size())
		}
		return header, state, err
	}
	return header, nil, err
}

// readCopy reads a saved state, up to the empty frame.
func readCopy(in *bufio.Reader, from *frames, left *int64) (*rules.State, error) {
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
	var saved rules.Saved
	if more, err := next(&saved); err != nil || !more {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	state, err := rules.Restore(&saved)
	for err == nil {
		var piece []rules.SavedShuffle
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

// signersOf returns those of this daemon's Ed25519 keys that a line of head names. Whether
// the signatures hold is checked by checkHead, after the entries are folded.
func (l *Ledger) signersOf(head ledger.Head) (signers []note.Signer) {
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

func cachePath(mark string) string { return filepath.Clean(mark) + ".cache" }
