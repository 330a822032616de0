package bundle

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Reader reads a bundle. What it returns has the form of docs/SPEC.md section 13 and is
// otherwise unchecked. Several goroutines may use it.
//
// Errors are of the file system, or match audit.ErrMalformed or audit.ErrUnknown.
type Reader struct {
	fsys       fs.FS
	root       *os.Root // closed by Close; nil: opened by OpenFS
	checkpoint []byte
	head       audit.Checkpoint

	// How many checkpoints the lists have. The directories are read at most once.
	cosigned, signed func() (uint64, error)
}

// Open opens the bundle in dir. Nothing outside dir is read, even if a symbolic link leads there.
func Open(dir string) (*Reader, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the bundle: %w", err)
	}
	r, err := OpenFS(root.FS())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), root.Close())
	}
	r.root = root
	return r, nil
}

// OpenFS opens the bundle in fsys.
func OpenFS(fsys fs.FS) (*Reader, error) {
	r := &Reader{fsys: fsys}
	var err error
	if r.checkpoint, err = readFile(fsys, fileCheckpoint, audit.MaxCheckpoint); err != nil {
		return nil, err
	}
	if r.head, err = audit.CheckpointText(r.checkpoint); err != nil {
		return nil, fmt.Errorf("reading %s: %w", fileCheckpoint, err)
	}
	r.cosigned = sync.OnceValues(func() (uint64, error) { return listed(fsys, dirCosigned) })
	r.signed = sync.OnceValues(func() (uint64, error) { return listed(fsys, dirSigned) })
	return r, nil
}

// Close ends the reading. r may be nil.
func (r *Reader) Close() error {
	if r == nil || r.root == nil {
		return nil
	}
	return r.root.Close()
}

// Manifest reads the manifest.
func (r *Reader) Manifest() (*Manifest, error) {
	b, err := readFile(r.fsys, fileManifest, maxManifest)
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(b)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", fileManifest, err)
	}
	return m, nil
}

// Checkpoint returns the signed checkpoint of the bundle.
func (r *Reader) Checkpoint() []byte { return bytes.Clone(r.checkpoint) }

// Entries returns the entries of one entry bundle: Width entries from bundle·Width on, or
// those that are left below the size.
func (r *Reader) Entries(bundle uint64) ([][]byte, error) {
	width := widthOf(r.head.Size, bundle)
	if width == 0 {
		return nil, fmt.Errorf("entry bundle %d is past the size %d", bundle, r.head.Size)
	}
	return readFramed(r.fsys, TilePath(LevelEntries, bundle, width), width, maxEntries)
}

// widthOf returns how many of size items are in file index, 0 to Width.
func widthOf(size, index uint64) int {
	if index > size/Width {
		return 0
	}
	return int(min(Width, size-index*Width))
}

// Tile returns width hashes of 32 bytes, 1 to Width, of a tile.
func (r *Reader) Tile(level int, index uint64, width int) ([]byte, error) {
	if level < 0 || level >= maxLevels || index > audit.MaxInteger || width < 1 || width > Width {
		return nil, fmt.Errorf("there is no tile %d/%d with %d hashes", level, index, width)
	}
	return readTile(r.fsys, level, index, width)
}

// Listed is a checkpoint of a list.
type Listed struct {
	Signed []byte
	File   string // of the bundle; with an error the file or directory that could not be read
	Number int    // in the file, from 0
}

// Cosigned yields all cosigned checkpoints of the directory, those above the size as well.
// It ends with the first error.
func (r *Reader) Cosigned() iter.Seq2[Listed, error] { return r.checkpoints(dirCosigned, r.cosigned) }

// Signed yields the checkpoints that first cover the entries of signing keys, as Cosigned does.
func (r *Reader) Signed() iter.Seq2[Listed, error] { return r.checkpoints(dirSigned, r.signed) }

func (r *Reader) checkpoints(dir string, counted func() (uint64, error)) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		count, err := counted()
		if err != nil {
			yield(Listed{File: dir}, err)
			return
		}
		for i := uint64(0); i*Width < count; i++ {
			width := widthOf(count, i)
			file := framedPath(dir, i, width)
			items, err := readFramed(r.fsys, file, width, maxCheckpoints)
			if err != nil {
				yield(Listed{File: file}, err)
				return
			}
			for n, c := range items {
				if !yield(Listed{c, file, n}, nil) {
					return
				}
			}
		}
	}
}

// Deck returns the deck with this hash.
func (r *Reader) Deck(hash [32]byte) (shuffle.Deck, error) {
	b, err := deckFiles.read(r.fsys, hash)
	if err != nil {
		return shuffle.Deck{}, err
	}
	return deckIn(b)
}

// Terms returns the document of terms with this hash. It checks the hash.
func (r *Reader) Terms(hash [32]byte) ([]byte, error) { return termsFiles.read(r.fsys, hash) }

// Strays counts the files of the directory that no bundle holds, and returns the first.
func (r *Reader) Strays() (count int, first string, err error) {
	err = fs.WalkDir(r.fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !Known(path) {
			count++
			first = cmp.Or(first, path)
		}
		return err
	})
	if err != nil {
		return 0, "", fmt.Errorf("listing the bundle: %w", err)
	}
	return count, first, nil
}

// leaves reports whether name, or a directory above it, is a symbolic link. os.Root does
// not follow a link out of the directory, and has no error of its own for it. So a name
// that cannot be read is asked for links, to tell such a link from a machine that fails.
func leaves(fsys fs.FS, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if info, err := fs.Lstat(fsys, name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// readFile reads a regular file of at most limit bytes. Kind and length are checked before
// it is opened: opening a pipe would wait for ever.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil && leaves(fsys, name):
		return nil, fmt.Errorf("reading %s: %w: a link that leads nowhere in the bundle", name, audit.ErrMalformed)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, fmt.Errorf("reading %s: %w: not a regular file of at most %d bytes", name, audit.ErrMalformed,
			limit)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	defer f.Close()
	b := make([]byte, min(info.Size(), math.MaxInt32))
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return b, nil
}
