package attacks

import (
	"bytes"
	"encoding/base64"
	encode "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// needle is a form of a piece of a secret. A piece has 16 bytes, or so many values in a row that
// it does not occur by chance: a single position is one byte, and has no needle.
type needle struct {
	form       []byte
	what, kind string
}

const (
	keyLen     = 8  // of the bytes that the index has of each needle: all forms are longer
	pieceLen   = 16 // bytes of a secret
	filterBits = 22
	mixer      = 0x9e3779b97f4a7c15
)

// needles are looked for all at once.
type needles struct {
	by      map[uint64][]needle // by the hash of 8 bytes, which lie a stride of 1, 2, 4 or 8 apart
	filter  []uint64            // hashes that are there
	longest int
}

func newNeedles() *needles {
	return &needles{by: make(map[uint64][]needle), filter: make([]uint64, 1<<filterBits/64)}
}

// keyOf is what the index has of a form that b begins with.
func keyOf(b []byte, stride int) (key uint64) {
	if stride == 1 {
		return encode.LittleEndian.Uint64(b)
	}
	for i := range keyLen {
		key = key<<8 | uint64(b[i*stride])
	}
	return key ^ uint64(stride)<<60
}

func (n *needles) add(what, kind string, form []byte) { n.addWide(what, kind, form, 1) }

func (n *needles) addWide(what, kind string, form []byte, stride int) {
	key := keyOf(form, stride)
	for _, old := range n.by[key] {
		if bytes.Equal(old.form, form) {
			return
		}
	}
	n.by[key] = append(n.by[key], needle{form, what, kind})
	h := key * mixer >> (64 - filterBits)
	n.filter[h/64] |= 1 << (h % 64)
	n.longest = max(n.longest, len(form))
}

// bytes adds every full piece of a secret in every form, and its last 16 bytes.
func (n *needles) bytes(what string, secret []byte) {
	for at := 0; at < len(secret); at += pieceLen {
		n.piece(what, secret[min(at, len(secret)-pieceLen):][:pieceLen])
	}
}

func (n *needles) piece(what string, piece []byte) {
	n.add(what, "bytes", bytes.Clone(piece))
	n.add(what, "hex", []byte(hex.EncodeToString(piece)))
	n.add(what, "HEX", []byte(strings.ToUpper(hex.EncodeToString(piece))))
	for front := range 3 { // how the piece lies in the groups of three
		shifted := append(make([]byte, front), piece...)
		from, to := (front*8+5)/6, len(shifted)*8/6 // characters that hang on the piece alone
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

// values adds each window of so many values below 128 in a row, in every form of a list; as varints
// they are bytes.
func (n *needles) values(what string, values []uint32, window int) {
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

// words adds each window of names in a row.
func (n *needles) words(what string, names []string, window int) {
	for ; len(names) >= window; names = names[1:] {
		for _, between := range []string{"", " ", ",", ", ", "\n", `","`, `", "`} {
			n.add(what, "names", []byte(strings.Join(names[:window], between)))
		}
	}
}

func joined(values []uint32, between string) string {
	var b []byte
	for i, v := range values {
		if i > 0 {
			b = append(b, between...)
		}
		b = strconv.AppendUint(b, uint64(v), 10)
	}
	return string(b)
}

// in returns the needles that b holds.
func (n *needles) in(b []byte, found func(needle, int)) {
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

// at returns the needles of a stride that b has at i.
func (n *needles) at(b []byte, i, stride int, found func(needle, int)) {
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

// read looks through a stream, block by block: what lies across two blocks is found, too.
func (n *needles) read(r io.Reader, found func(needle, int)) (total int64, err error) {
	block, kept := make([]byte, blockLen), 0
	for {
		got, err := io.ReadFull(r, block[kept:])
		total += int64(got)
		if part := block[:kept+got]; !blank(part) {
			n.in(part, found)
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

// blank reports whether nothing was ever written there: most of what a process has mapped.
func blank(b []byte) bool { return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1]) }

// memory looks through all that a process may write or has mapped without a file, while it
// stands still. What it only reads of files, such as its program, is of no hand.
func (n *needles) memory(t *testing.T, pid int, found func(needle, string)) (total int64) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(syscall.Kill(pid, syscall.SIGSTOP))
	defer syscall.Kill(pid, syscall.SIGCONT)
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	must(err)
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Skipf("the memory of another process takes root: %v", err)
	}
	defer mem.Close()
	for line := range strings.Lines(string(maps)) {
		fields := append(strings.Fields(line), "")
		name := fields[5]
		if fields[1][0] != 'r' || fields[1][1] != 'w' && strings.HasPrefix(name, "/") || strings.HasPrefix(name, "[v") {
			continue
		}
		var from, to int64
		_, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to)
		must(err)
		got, err := n.read(io.NewSectionReader(mem, from, to-from), func(one needle, _ int) {
			found(one, "memory "+fields[0]+" "+name)
		})
		total += got
		if err != nil {
			t.Errorf("reading memory at %s: %v", strings.TrimSpace(line), err)
		}
	}
	return total
}

// files looks through every file below a directory.
func (n *needles) files(t *testing.T, dir string, found func(needle, string)) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if os.IsNotExist(err) {
			return nil // it went, as files do that stand in for others
		}
		if err != nil {
			return err
		}
		defer f.Close()
		got, err := n.read(f, func(one needle, _ int) { found(one, path) })
		total += got
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// TestSearchFinds: what is planted is found in every form, wherever it lies.
func TestSearchFinds(t *testing.T) {
	attack(t)
	secret := []byte("\x00\xff\x10a tape of 129 bytes, of which any full piece tells\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\xfe\xfb")
	order := []uint32{51, 3, 17, 22, 40, 9, 0, 1, 33, 50, 12, 5, 47, 8}
	names := strings.Fields("As Kd 7h 2c Tc 9s Jd 4h 3s Qc 8d 6h 5c")
	n := newNeedles()
	n.bytes("tape", secret)
	n.values("order", order, 12)
	n.words("cards", names, 12)
	asJSON := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var u16, u64, varint, u32be []byte
	for _, v := range order {
		u16, u64 = encode.NativeEndian.AppendUint16(u16, uint16(v)), encode.NativeEndian.AppendUint64(u64, uint64(v))
		varint, u32be = encode.AppendUvarint(varint, uint64(v)), encode.BigEndian.AppendUint32(u32be, v)
	}
	planted := map[string]string{
		"raw": string(secret), "a part": string(secret[5:40]), "hex": hex.EncodeToString(secret),
		"HEX":      fmt.Sprintf("%X", secret),
		"decimals": fmt.Sprint(secret), "JSON": asJSON(map[string]any{"tape": secret}),
		"base64, 1":     base64.StdEncoding.EncodeToString(append([]byte("x"), secret...)),
		"base64, 2":     base64.URLEncoding.EncodeToString(append([]byte("xy"), secret...)),
		"base64url":     base64.RawURLEncoding.EncodeToString(secret),
		"Go":            strings.ReplaceAll(fmt.Sprint(secret), " ", ", "),
		"order as JSON": asJSON(order), "order": fmt.Sprint(order),
		"u16": string(u16), "u64": string(u64),
		"varint": string(varint), "u32be": string(u32be), "cards": strings.Join(names, " "),
		"cards as JSON":       asJSON(names),
		"a part of the order": joined(order[2:], ", "),
	}
	for name, text := range planted {
		for _, front := range []int{0, 1, 7, blockLen - 9, blockLen - len(text), 2*blockLen - 40} {
			hits := 0
			hay := append(bytes.Repeat([]byte{'~'}, front), text...)
			if _, err := n.read(bytes.NewReader(hay), func(needle, int) { hits++ }); err != nil || hits == 0 {
				t.Errorf("%s behind %d bytes is not found: %v", name, front, err)
			}
		}
	}
	n.in([]byte(strings.Repeat("of which any full piece", 3)+asJSON(order[:11])), func(one needle, _ int) {
		t.Errorf("%q is found where it is not", one.form)
	})
}
