package kit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// ManifestName is the file that names all others of a kit.
const ManifestName = "manifest.json"

const format = "shuffled/lab-kit/v1"

// A Manifest says what a kit holds.
type Manifest struct {
	Format string    `json:"format"`
	Made   time.Time `json:"made"`
	Commit string    `json:"commit,omitempty"` // of the source in the kit; empty without
	Files  []File    `json:"files"`
}

// A File is one file of a kit. The manifest itself is not among them.
type File struct {
	Name   string `json:"name"` // slashes, relative to the kit
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
	// Reproducible says that the same commit gives the same bytes on every machine. Other files are samples
	// or their results: no two are equal.
	Reproducible bool     `json:"reproducible"`
	About        string   `json:"about"`
	Command      []string `json:"command,omitempty"` // that wrote it
	ExitCode     int      `json:"exit_code"`         // of the command: 1 where evidence failed
}

// Add takes the file of the given name in dir into the manifest.
func (m *Manifest) Add(dir string, f File) error {
	var err error
	if f.SHA256, f.Size, err = digestFile(filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
		return err
	}
	m.Files = append(m.Files, f)
	return nil
}

// Write writes the manifest into dir, which makes a kit of it.
func (m *Manifest) Write(dir string) error {
	m.Format = format
	slices.SortFunc(m.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ManifestName), append(b, '\n'), 0o644)
}

// maxManifest is larger than the manifest of any kit: one has tens of files.
const maxManifest = 16 << 20

// readManifest reads a regular file of at most maxManifest bytes.
func readManifest(name string) ([]byte, error) {
	if info, err := os.Lstat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(b) > maxManifest {
		err = fmt.Errorf("%s has more than %d bytes", name, maxManifest)
	}
	return b, err
}

// Read reads the manifest of the kit in dir. Each file has one name: local, with slashes, without "." and "..".
func Read(dir string) (*Manifest, error) {
	b, err := readManifest(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	m := new(Manifest)
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading the manifest: there is more after its end")
	}
	if m.Format != format || len(m.Files) == 0 {
		return nil, fmt.Errorf("reading the manifest: it is not of the format %s, or names no file", format)
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(f.Name) || path.Clean(f.Name) != f.Name {
			return nil, fmt.Errorf("reading the manifest: %q is not the name of a file in the kit", f.Name)
		}
	}
	return m, nil
}

// Failed returns the files of commands that ended with an exit code other than 0: the evidence in them fails.
func (m *Manifest) Failed() (failed []File) {
	for _, f := range m.Files {
		if f.ExitCode != 0 {
			failed = append(failed, f)
		}
	}
	return failed
}

// Check compares the files in dir with the manifest, and returns the differences: a file that is missing, that has
// other bytes, or that the manifest does not name. The error is about files that could not be read.
func (m *Manifest) Check(dir string) (faults []string, err error) {
	named := map[string]bool{ManifestName: true, NoteName: true}
	for _, f := range m.Files {
		if named[f.Name] {
			faults = append(faults, f.Name+" is in the manifest twice")
		}
		named[f.Name] = true
		sum, size, err := digestFile(filepath.Join(dir, filepath.FromSlash(f.Name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			faults = append(faults, f.Name+" is missing")
		case err != nil:
			return faults, err
		case size != f.Size || sum != f.SHA256:
			faults = append(faults, fmt.Sprintf("%s has %d bytes with SHA-256 %s; the manifest says %d and %s", f.Name,
				size, sum, f.Size, f.SHA256))
		}
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !named[name] {
			faults = append(faults, name+" is not in the manifest")
		}
		return err
	})
	return faults, err
}

// Differ compares what two kits should have in common: the files that one of them calls reproducible. It
// returns how many are equal, and the differences.
func (m *Manifest) Differ(other *Manifest) (same int, faults []string) {
	if m.Commit != other.Commit {
		return 0, []string{fmt.Sprintf("the kits are of two commits, %s and %s", m.Commit, other.Commit)}
	}
	theirs := map[string]File{}
	for _, f := range other.Files {
		theirs[f.Name] = f
	}
	for _, f := range m.Files {
		o, has := theirs[f.Name]
		delete(theirs, f.Name)
		switch {
		case !f.Reproducible && !o.Reproducible:
		case !has:
			faults = append(faults, f.Name+" is in one kit only")
		case f.SHA256 != o.SHA256 || f.Reproducible != o.Reproducible:
			faults = append(faults, fmt.Sprintf("%s has SHA-256 %s and %s", f.Name, f.SHA256, o.SHA256))
		default:
			same++
		}
	}
	for _, o := range other.Files {
		if _, left := theirs[o.Name]; left && o.Reproducible {
			faults = append(faults, o.Name+" is in one kit only")
		}
	}
	return same, faults
}

// digestFile returns SHA-256 and size of a regular file.
func digestFile(name string) (string, int64, error) {
	if info, err := os.Lstat(name); err != nil {
		return "", 0, err
	} else if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}
