package kit

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Source is a commit of a checkout, to be archived.
type Source struct {
	Commit string // 40 or 64 hexadecimal digits
	Time   time.Time
	dir    string
}

// OpenSource finds the commit at the head of the checkout at dir. It needs git.
func OpenSource(ctx context.Context, dir string) (*Source, error) {
	s := &Source{dir: dir}
	out, err := s.git(ctx, "show", "--no-patch", "--format=%H %cI", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("finding the commit of the source: %w", err)
	}
	hash, at, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	s.Commit = hash
	if s.Time, err = time.Parse(time.RFC3339, at); err != nil {
		return nil, fmt.Errorf("finding the commit of the source: %w", err)
	}
	return s, nil
}

// git runs git in the checkout, without the effects of a user's settings.
func (s *Source) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", s.dir, "-c", "core.autocrlf=false"}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// A Digest is the digest of a file, in the form of sha256sum.
type Digest struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Archive writes the committed files to w as a tar whose bytes depend only on the commit: names in order,
// no owner, the commit's time. It returns the digest of each file.
func (s *Source) Archive(ctx context.Context, w io.Writer) ([]Digest, error) {
	out, err := s.git(ctx, "archive", "--format=tar", s.Commit)
	if err != nil {
		return nil, fmt.Errorf("archiving the source: %w", err)
	}
	files, err := readTar(out)
	if err != nil {
		return nil, fmt.Errorf("reading git's archive: %w", err)
	}
	t := tar.NewWriter(w)
	var digests []Digest
	for _, f := range files {
		f.header.ModTime = s.Time.UTC()
		if err := t.WriteHeader(&f.header); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
		if f.header.Typeflag == tar.TypeReg {
			sum := sha256.Sum256(f.content)
			digests = append(digests, Digest{f.header.Name, hex.EncodeToString(sum[:])})
		}
	}
	return digests, t.Close()
}

type tarFile struct {
	header  tar.Header
	content []byte
}

// readTar reads files and symbolic links, in the order of their names. Of their modes it keeps only whether
// they are executable.
func readTar(b []byte) ([]tarFile, error) {
	var files []tarFile
	for t := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		f := tarFile{header: tar.Header{Typeflag: h.Typeflag, Name: h.Name, Linkname: h.Linkname, Mode: 0o644,
			Format: tar.FormatPAX}}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeSymlink:
		case tar.TypeReg:
			if f.content, err = io.ReadAll(t); err != nil {
				return nil, err
			}
			f.header.Size = int64(len(f.content))
		default:
			return nil, fmt.Errorf("%s is neither a file nor a link", h.Name)
		}
		if h.Mode&0o100 != 0 {
			f.header.Mode = 0o755
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, errors.New("it is empty")
	}
	slices.SortFunc(files, func(a, b tarFile) int { return cmp.Compare(a.header.Name, b.header.Name) })
	return files, nil
}
