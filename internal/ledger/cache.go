package ledger

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/process"
	"shuffled/internal/witness/gateway"
)

// The cache is a file alongside the mark with the state of all entries below a size,
// from which Open goes on. It is no evidence, and may be deleted at any time: without
// it, Open folds all entries. It is used only where it is the fold of this ledger's
// tree, in the words of a daemon that held the signing key: it names genesis, size and
// root, and every frame has a MAC under a key that is derived from the signing key of
// the stored head. A database that is edited does not reach it, and who edits the file
// makes no administrator.
//
// The file is a sequence of frames: u32 length, bytes, MAC over the MAC of the frame
// before and the bytes. The first is a cacheHeader. Then come an audit.Saved and the
// pieces of its audit.Copy, in one stream of encoding/gob, and an empty frame ends the
// file.

// cachePieces is how many open shuffles are copied between two batches: half a
// millisecond.
const cachePieces = 1024

const labelCache = "shuffled/v1/cache\x00"

// cacheHeader is what a cache is bound to.
type cacheHeader struct {
	Genesis [32]byte // SHA-256 of the genesis entry
	Size    uint64
	Root    [32]byte // of the tree of that size
}

// cacheKey derives the MAC key from a signing key. What is signed is no checkpoint, and
// the signature does not leave this function.
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

var errCacheMAC = errors.New("it was not written under the signing key of the stored head, or was changed")

// read returns the next frame of a file, of which so many bytes are left, in the room
// of b.
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

// caching writes the cache whenever as many entries have come as Config.CacheEvery
// says, and at least half as many as there are open shuffles, so that the cost of an
// entry does not grow with them. The sequencer copies a piece at a time, and everything
// else is this goroutine's. A daemon that stops in between leaves the cache of before.
type caching struct {
	l   *Ledger
	due chan struct{} // capacity 1

	// The sequencer's.
	size uint64 // of the newest cache, or of the one that is being written
	key  string // of the signing key that it is under
}

func (l *Ledger) newCaching() *caching {
	return &caching{l: l, due: make(chan struct{}, 1)}
}

// run writes caches until the ledger is closed.
func (c *caching) run() {
	for {
		select {
		case <-c.l.stop:
			return
		case <-c.due:
		}
		if err := c.write(); err != nil && c.l.running.Err() == nil {
			c.l.cfg.Log.Warn("writing the cache of the state: the next start takes longer",
				"ledger", c.l.cfg.Info.Name, "error", err)
		}
	}
}

// wake says that a cache is due. It runs on the sequencer's goroutine, when a head is
// published.
func (c *caching) wake() {
	l := c.l
	next := c.size + max(l.cfg.CacheEvery, uint64(l.state.OpenCount()/2))
	rotated := c.size > 0 && c.key != l.signerInForce()
	if !l.begun() || l.state.Size() < next && !rotated {
		return
	}
	select {
	case c.due <- struct{}{}:
	default:
	}
}

// signerInForce names the Ed25519 signing key in force.
func (l *Ledger) signerInForce() string { return gateway.Signer(l.history.inForce()[0].key) }

// write copies the state and puts it in place of the cache.
func (c *caching) write() error {
	l := c.l
	var from *audit.Copy
	var header cacheHeader
	var saved *audit.Saved
	var s note.Signer
	err := l.ask(l.running, func() {
		c.size, c.key = l.head.Size, l.signerInForce()
		if s = l.signer(l.history.inForce()[0].key); s != nil {
			header = cacheHeader{l.genesisHash, l.head.Size, l.head.Root}
			from, saved = l.state.Copy()
		}
	})
	if err != nil || s == nil {
		return err
	}
	defer l.ask(l.running, func() { from.End() })
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
			var piece []audit.SavedShuffle
			var err error
			asked := l.ask(l.running, func() { piece, err = from.More(cachePieces) })
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

func cachePath(mark string) string { return filepath.Clean(mark) + ".cache" }
