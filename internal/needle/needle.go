// Package needle searches for the secrets of a shuffle in the places that root on a host can read: the memory
// of a process, files, output. It searches for a secret in every form in which a program writes one.
package needle

import (
	"bytes"
	"encoding/base64"
	encode "encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Needle is one form of a piece of a secret. A piece has 16 bytes, or enough values in a row that it does not
// occur by chance. One position is one byte, so it has no needle.
type Needle struct {
	form       []byte
	What, Kind string // name of the secret, and of the form
}

// PieceLen is the length of a piece of a secret, in bytes.
const PieceLen = 16

const (
	keyLen     = 8 // bytes of each needle that are in the index; every form is longer
	filterBits = 25
	mixer      = 0x9e3779b97f4a7c15
)

// Needles are searched for all at once. They are safe for concurrent searches, and not while needles are added.
type Needles struct {
	by      map[uint64][]Needle // by keyOf
	filter  []uint64            // a bit for each hash of a key in by
	longest int
}

// New returns an empty set.
func New() *Needles {
	return &Needles{by: make(map[uint64][]Needle), filter: make([]uint64, 1<<filterBits/64)}
}

// keyOf returns the key of a form that begins with b: of 8 bytes that are a stride of 1, 2, 4 or 8 apart.
func keyOf(b []byte, stride int) (key uint64) {
	if stride == 1 {
		return encode.LittleEndian.Uint64(b)
	}
	for i := range keyLen {
		key = key<<8 | uint64(b[i*stride])
	}
	return key ^ uint64(stride)<<60
}

func (n *Needles) add(what, kind string, form []byte) { n.addWide(what, kind, form, 1) }

func (n *Needles) addWide(what, kind string, form []byte, stride int) {
	key := keyOf(form, stride)
	for _, old := range n.by[key] {
		if bytes.Equal(old.form, form) {
			return
		}
	}
	n.by[key] = append(n.by[key], Needle{form, what, kind})
	h := key * mixer >> (64 - filterBits)
	n.filter[h/64] |= 1 << (h % 64)
	n.longest = max(n.longest, len(form))
}

// Bytes adds every full piece of a secret, and its last 16 bytes, in every form.
func (n *Needles) Bytes(what string, secret []byte) {
	for at := 0; at < len(secret); at += PieceLen {
		n.Piece(what, secret[min(at, len(secret)-PieceLen):][:PieceLen])
	}
}

// Piece adds 16 bytes in every form.
func (n *Needles) Piece(what string, piece []byte) {
	n.add(what, "bytes", bytes.Clone(piece))
	n.add(what, "hex", []byte(hex.EncodeToString(piece)))
	n.add(what, "HEX", []byte(strings.ToUpper(hex.EncodeToString(piece))))
	if quoted := strconv.Quote(string(piece)); len(quoted) > 32 { // as fmt and log/slog write it
		n.add(what, "quoted", []byte(quoted[1:25]))
	}
	for front := range 3 { // where the piece begins in a group of three bytes
		shifted := append(make([]byte, front), piece...)
		from, to := (front*8+5)/6, len(shifted)*8/6 // characters that depend on the piece alone
		n.add(what, "base64", []byte(base64.RawStdEncoding.EncodeToString(shifted)[from:to]))
		n.add(what, "base64url", []byte(base64.RawURLEncoding.EncodeToString(shifted)[from:to]))
	}
	values := make([]uint32, len(piece))
	for i, b := range piece {
		values[i] = uint32(b)
	}
	for _, between := range []string{",", ", ", " "} {
		n.add(what, "decimals", []byte(joined(values, between)))
	}
}

// Values adds each window of values in a row, in every form of a list. The values must be below 128, so that
// their varints are single bytes.
func (n *Needles) Values(what string, values []uint32, window int) {
	for ; len(values) >= window; values = values[1:] {
		w := values[:window]
		var u8 []byte
		for _, v := range w {
			u8 = append(u8, byte(v))
		}
		n.add(what, "bytes", u8)
		n.add(what, "hex", []byte(hex.EncodeToString(u8)))
		for _, width := range []int{2, 4, 8} { // from the first low byte to the last one, in both byte orders
			form := make([]byte, (window-1)*width+1)
			for i, b := range u8 {
				form[i*width] = b
			}
			n.addWide(what, fmt.Sprintf("u%d", 8*width), form, width)
		}
		for _, between := range []string{",", ", ", " ", "\n"} {
			n.add(what, "decimals", []byte(joined(w, between)))
		}
	}
}

// Words adds each window of names in a row, in every form of a list.
func (n *Needles) Words(what string, names []string, window int) {
	for ; len(names) >= window; names = names[1:] {
		for _, between := range []string{"", " ", ",", ", ", "\n", `","`, `", "`} {
			n.add(what, "names", []byte(strings.Join(names[:window], between)))
		}
	}
}

func joined(values []uint32, between string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", between)
}

// In calls found with each needle in b, and with its index.
func (n *Needles) In(b []byte, found func(Needle, int)) {
	for i := 0; i+keyLen <= len(b); i++ {
		word := encode.LittleEndian.Uint64(b[i:])
		if word == 0 && i+24 <= len(b) && encode.LittleEndian.Uint64(b[i+8:]) == 0 &&
			encode.LittleEndian.Uint64(b[i+16:]) == 0 {
			continue // no form has so many zeros
		}
		n.at(b, i, 1, found)
		for stride, above := 2, word>>8; stride <= 8; stride *= 2 {
			if above<<(72-8*stride) == 0 && i+keyLen*stride <= len(b) {
				n.at(b, i, stride, found)
			}
		}
	}
}

// at calls found with the needles of a stride that begin at b[i].
func (n *Needles) at(b []byte, i, stride int, found func(Needle, int)) {
	key := keyOf(b[i:], stride)
	h := key * mixer >> (64 - filterBits)
	if n.filter[h/64]&(1<<(h%64)) == 0 {
		return
	}
	for _, one := range n.by[key] {
		if bytes.HasPrefix(b[i:], one.form) {
			found(one, i)
		}
	}
}

const blockLen = 1 << 20

// Read searches a stream, block by block, also across two blocks. It returns how many bytes it read.
func (n *Needles) Read(r io.Reader, found func(Needle, int)) (total int64, err error) {
	block, kept := make([]byte, blockLen), 0
	for {
		got, err := io.ReadFull(r, block[kept:])
		total += int64(got)
		if part := block[:kept+got]; !blank(part) {
			n.In(part, found)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		kept = copy(block, block[len(block)-n.longest+1:])
	}
}

// Len returns how many needles there are.
func (n *Needles) Len() (all int) {
	for _, of := range n.by {
		all += len(of)
	}
	return all
}

// blank reports whether all bytes are 0, as in most memory that is mapped.
func blank(b []byte) bool { return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1]) }

// Files searches every file below a directory. It returns how many bytes it read.
func (n *Needles) Files(dir string, found func(Needle, string)) (total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if os.IsNotExist(err) {
			return nil // temporary files are removed during the search
		}
		if err != nil {
			return err
		}
		defer f.Close()
		got, err := n.Read(f, func(one Needle, _ int) { found(one, path) })
		total += got
		return err
	})
	if err != nil {
		return total, fmt.Errorf("looking through %s: %w", dir, err)
	}
	return total, nil
}

// Memory searches the memory of a process, as regions reads it. It returns how many bytes it read.
func (n *Needles) Memory(pid int, found func(Needle, string)) (total int64, err error) {
	err = regions(pid, func(name string, r io.Reader) error {
		got, err := n.Read(r, func(one Needle, _ int) { found(one, name) })
		total += got
		return err
	})
	return total, err
}
