package sequencer

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

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
// names genesis, size and root of the tree, and ends with a MAC under a key that is derived from that signing key. So
// an edited database cannot change the cache, and an edited file cannot make anybody an administrator.
//
// The file is a stream of encoding/gob, and the MAC of the stream: a cacheHeader, a rules.Saved, and the pieces of its
// rules.Copy, the last of them empty.

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

var errCacheMAC = errors.New("the cache was not written under the signing key of the stored head, or was changed")

// writeCaches writes caches until the ledger is closed, on a goroutine of its own.
func (l *Ledger) writeCaches() {
	for {
		select {
		case <-l.life.Running.Done():
			return
		case <-l.cacheDue:
		}
		if err := l.writeCache(); err != nil && l.life.Running.Err() == nil {
			l.cfg.Log.Warn("the cache of the state could not be written: the next start takes longer", "error", err)
		}
	}
}

// wakeCache has a cache written if one is due: after every Config.CacheEvery entries, or after half as many entries as
// there are open shuffles if that is more. So the cost of an entry does not grow with the open shuffles. It runs on the
// sequencer's goroutine, when a head is published.
func (l *Ledger) wakeCache() {
	next := l.cachedSize + max(l.cfg.CacheEvery, uint64(l.memory.State.OpenCount()/2))
	rotated := l.cachedSize > 0 && l.cachedKey != string(l.memory.State.SigningKey())
	if !l.begun() || l.memory.State.Size() < next && !rotated {
		return
	}
	select {
	case l.cacheDue <- struct{}{}:
	default:
	}
}

// writeCache copies the state, one piece at a time on the sequencer's goroutine, and replaces the cache with the copy.
// If the daemon stops in between, the cache from before stays.
func (l *Ledger) writeCache() error {
	var from *rules.Copy
	var header cacheHeader
	var saved *rules.Saved
	var s note.Signer
	err := l.Ask(l.life.Running, func() {
		l.cachedSize, l.cachedKey = l.memory.Head.Size, string(l.memory.State.SigningKey())
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
		mac := hmac.New(sha256.New, key)
		stream := gob.NewEncoder(io.MultiWriter(out, mac))
		err := errors.Join(stream.Encode(header), stream.Encode(saved))
		for more := true; more && err == nil; {
			var piece []rules.SavedShuffle
			asked := l.Ask(l.life.Running, func() { piece, err = from.More(cachePieces) })
			if err = errors.Join(asked, err); err == nil {
				err, more = stream.Encode(piece), len(piece) > 0
			}
		}
		if err == nil {
			_, err = out.Write(mac.Sum(nil))
		}
		return err
	})
}

// readCache reads a cache of at most as many entries as head. It must be written under the
// Ed25519 key that signed head, or under one of the two if a rotation ends at head.
func (l *Ledger) readCache(head ledger.Head, file *os.File) (header cacheHeader, state *rules.State, err error) {
	info, err := file.Stat()
	if err != nil {
		return header, nil, err
	}
	var sum [sha256.Size]byte
	length := info.Size() - sha256.Size
	if _, err := file.ReadAt(sum[:], max(0, length)); err != nil {
		return header, nil, err
	}
	for _, s := range l.signersOf(head) {
		key, err := cacheKey(s)
		if err != nil {
			return header, nil, err
		}
		mac := hmac.New(sha256.New, key)
		if _, err := io.Copy(mac, io.NewSectionReader(file, 0, length)); err != nil {
			return header, nil, err
		}
		if !hmac.Equal(mac.Sum(nil), sum[:]) {
			continue
		}
		mac.Reset() // what is changed from now on is not believed either
		header, state, err = readCopy(io.TeeReader(io.NewSectionReader(file, 0, length), mac), head.Size)
		if err == nil && !hmac.Equal(mac.Sum(nil), sum[:]) {
			err = errCacheMAC
		}
		return header, state, err
	}
	return header, nil, errCacheMAC
}

// readCopy reads a saved state of at most so many entries.
func readCopy(in io.Reader, most uint64) (header cacheHeader, state *rules.State, err error) {
	stream := gob.NewDecoder(in)
	if err = stream.Decode(&header); err == nil && (header.Size == 0 || header.Size > most) {
		err = fmt.Errorf("the cache is of %d entries, and the ledger has %d", header.Size, most)
	}
	var saved rules.Saved
	if err == nil {
		err = stream.Decode(&saved)
	}
	if err == nil {
		state, err = rules.Restore(&saved)
	}
	for more := true; more && err == nil; {
		var piece []rules.SavedShuffle
		err = stream.Decode(&piece)
		for i := 0; i < len(piece) && err == nil; i++ {
			err = state.Reopen(piece[i])
		}
		more = len(piece) > 0
	}
	if err == nil && state.Size() != header.Size {
		err = fmt.Errorf("the cache names %d entries, and its state is of %d", header.Size, state.Size())
	}
	return header, state, err
}

// signersOf returns those of this daemon's Ed25519 keys that a line of head names. Whether
// the signatures hold is checked by checkHead, after the entries are folded.
func (l *Ledger) signersOf(head ledger.Head) []note.Signer {
	by := gateway.Signers(head.Checkpoint)
	return slices.DeleteFunc(slices.Clone(l.cfg.Signers), func(s note.Signer) bool {
		_, mldsa := s.(verifying)
		return mldsa || !by[gateway.Signer(s)]
	})
}

func cachePath(mark string) string { return filepath.Clean(mark) + ".cache" }
