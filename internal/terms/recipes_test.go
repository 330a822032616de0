package terms

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// The vectors, from docs/SPEC.md section 16 without the code under test.

func makeVectors() vectors {
	v := vectors{About: []string{
		"Terms and tickets, docs/SPEC.md sections 5.2 and 16. Bytes are hexadecimal.",
		"documents: want is ok or malformed; hash is what a context holds of the document, and labels and total are those of a wheel.",
		"lists: the salts, leaves and root of the lines under the secret.",
		"tickets: text is a proof. want is ok, malformed, unknown, or root when the proof leads to another root than it names.",
	}}
	v.addWheels()
	v.addPayTables()
	v.addLists()
	v.addTickets()
	return v
}

func refHash(kind byte, b []byte) string {
	h := sha256.Sum256(append(append([]byte("shuffled/v1/terms\x00"), kind), b...))
	return hex.EncodeToString(h[:])
}

// wheel is the bytes of labels with weights, in turns.
func wheel(parts ...any) []byte {
	b := []byte{byte(len(parts) / 2 >> 8), byte(len(parts) / 2)}
	for i := 0; i < len(parts); i += 2 {
		label := parts[i].(string)
		b = append(append(b, byte(len(label))), label...)
		b = binary.BigEndian.AppendUint32(b, uint32(parts[i+1].(int)))
	}
	return b
}

func (v *vectors) addWheels() {
	good := func(name string, parts ...any) {
		b := wheel(parts...)
		c := documentVector{Name: "wheel: " + name, Kind: "wheel", Document: hex.EncodeToString(b), Want: "ok",
			Hash: refHash(1, b)}
		for i := 0; i < len(parts); i += 2 {
			c.Labels = append(c.Labels, Label{parts[i].(string), uint32(parts[i+1].(int))})
			c.Total += uint32(parts[i+1].(int))
		}
		v.Documents = append(v.Documents, c)
	}
	bad := func(name string, b []byte) {
		v.Documents = append(v.Documents, documentVector{Name: "wheel: " + name, Kind: "wheel",
			Document: hex.EncodeToString(b), Want: "malformed"})
	}
	good("nothing, a car, a trip", "nothing", 9989, "a car", 10, "a trip", 1)
	good("one label", "always", 1)
	good("the largest total", "a", 1<<30-1, "b", 1)
	good("labels that differ in case, and outside ASCII", "a", 1, "A", 1, "été", 1)
	long := strings.Repeat("x", 64)
	good("a label of 64 bytes", long, 3)
	bad("no bytes", nil)
	bad("one byte", []byte{0})
	bad("no label", wheel())
	bad("a total above the largest range", wheel("a", 1<<30, "b", 1))
	bad("two weights whose sum needs a 33rd bit", wheel("a", 1<<32-1, "b", 2))
	bad("a weight of 0", wheel("a", 1, "b", 0))
	bad("a label twice", wheel("a", 1, "b", 1, "a", 1))
	bad("an empty label", wheel("", 1))
	bad("a label of 65 bytes", wheel(long+"x", 1))
	bad("a label that ends with a space", wheel("a ", 1))
	bad("a label with a zero-width space", wheel("a\u200bb", 1))
	bad("a label with a newline", wheel("a\nb", 1))
	bad("a label that is no UTF-8", wheel("\xff", 1))
	whole := wheel("a", 1, "b", 1)
	bad("a byte after the last label", append(slices.Clone(whole), 0))
	bad("cut short in the last weight", whole[:len(whole)-1])
	bad("cut short in the last label", whole[:len(whole)-5])
	bad("cut short after the first label", whole[:8])
	bad("a count above the labels", append([]byte{0, 3}, whole[2:]...))
	bad("a count below the labels", append([]byte{0, 1}, whole[2:]...))
}

func (v *vectors) addPayTables() {
	add := func(name, text, want string) {
		c := documentVector{Name: "pay table: " + name, Kind: "pay_table", Document: hex.EncodeToString([]byte(text)),
			Want: want}
		if want == "ok" {
			c.Hash = refHash(2, []byte(text))
		}
		v.Documents = append(v.Documents, c)
	}
	add("two lines", "three cherries: 10\nthree bells: 50\n", "ok")
	add("one character", "x", "ok")
	add("the bytes of a wheel, which are another document under another kind", "{}", "ok")
	add("nothing", "", "malformed")
	add("a tab", "a\tb", "malformed")
	add("a carriage return", "a\r\n", "malformed")
	add("a mark that turns the direction of text", "1\u202e00", "malformed")
	add("no UTF-8", "a\xc3", "malformed")
	// The edges of each range that SPEC 3.1 leaves out, and what stands in front of and behind them.
	for _, r := range [][2]rune{{0x7f, 0xa0}, {0xad, 0xad}, {0x34f, 0x34f}, {0x600, 0x605}, {0x61c, 0x61c},
		{0x6dd, 0x6dd}, {0x70f, 0x70f}, {0x890, 0x891}, {0x8e2, 0x8e2}, {0x115f, 0x1160}, {0x1680, 0x1680},
		{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f}, {0x2800, 0x2800},
		{0x3000, 0x3000}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
		{0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x16fe4, 0x16fe4}, {0x1bca0, 0x1bca3},
		{0x1d159, 0x1d159}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}} {
		add(fmt.Sprintf("U+%04X and U+%04X", r[0]-1, r[1]+1), string([]rune{r[0] - 1, r[1] + 1}), "ok")
		for _, c := range slices.Compact([]rune{r[0], (r[0] + r[1]) / 2, r[1]}) {
			add(fmt.Sprintf("U+%04X", c), "a"+string(c)+"b", "malformed")
		}
	}
}

// refMTH and refPath are MTH and PATH of RFC 6962 section 2.1.
func refMTH(d [][]byte) []byte {
	if len(d) == 1 {
		return d[0]
	}
	k := split(len(d))
	h := sha256.Sum256(slices.Concat([]byte{1}, refMTH(d[:k]), refMTH(d[k:])))
	return h[:]
}

func refPath(m int, d [][]byte) [][]byte {
	if len(d) == 1 {
		return nil
	}
	if k := split(len(d)); m < k {
		return append(refPath(m, d[:k]), refMTH(d[k:]))
	} else {
		return append(refPath(m-k, d[k:]), refMTH(d[:k]))
	}
}

// split is the largest power of two below n.
func split(n int) int {
	k := 1
	for 2*k < n {
		k *= 2
	}
	return k
}

// refList is salts and leaves of lines.
func refList(secret []byte, lines []string) (salts, leaves [][]byte) {
	mac := func(key, data []byte) []byte {
		m := hmac.New(sha256.New, key)
		m.Write(data)
		return m.Sum(nil)
	}
	key := mac(mac(make([]byte, 32), secret), []byte("shuffled/v1/ticket-salt\x00\x01"))
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	stream := make([]byte, 16*len(lines))
	cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(stream, stream)
	for i, line := range lines {
		salt := stream[16*i : 16*i+16]
		b := slices.Concat([]byte("\x00shuffled/v1/ticket\x00"), binary.BigEndian.AppendUint64(nil, uint64(i)), salt,
			[]byte(line))
		h := sha256.Sum256(b)
		salts, leaves = append(salts, salt), append(leaves, h[:])
	}
	return salts, leaves
}

func refLines(n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("T-%06d", 7*i+1))
	}
	return lines
}

func refSecret(name string) []byte {
	h := sha256.Sum256([]byte(name))
	return h[:]
}

func (v *vectors) addLists() {
	for _, n := range []int{2, 3, 4, 5, 7, 8, 13} {
		c := listVector{Name: fmt.Sprintf("%d tickets", n), Lines: refLines(n)}
		if n == 5 { // bytes, not letters or numbers, are what ascends
			c.Lines = []string{"10", "9", "A", "a", "h.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
		}
		secret := refSecret(c.Name)
		salts, leaves := refList(secret, c.Lines)
		c.Secret, c.Root = hex.EncodeToString(secret), hex.EncodeToString(refMTH(leaves))
		for i := range c.Lines {
			c.Salts, c.Leaves = append(c.Salts, hex.EncodeToString(salts[i])),
				append(c.Leaves, hex.EncodeToString(leaves[i]))
		}
		v.Lists = append(v.Lists, c)
	}
}

func (v *vectors) addTickets() {
	add := func(name, text, want string) {
		v.Tickets = append(v.Tickets, ticketVector{name, text, want})
	}
	text := func(n, number int) string {
		lines := refLines(n)
		salts, leaves := refList(refSecret("tickets"), lines)
		out := fmt.Sprintf("shuffled/v1/ticket\ncount %d\nroot %s\nnumber %d\nline %s\nsalt %s\n", n,
			base64.StdEncoding.EncodeToString(refMTH(leaves)), number, lines[number-1],
			base64.StdEncoding.EncodeToString(salts[number-1]))
		for _, h := range refPath(number-1, leaves) {
			out += base64.StdEncoding.EncodeToString(h) + "\n"
		}
		return out
	}
	for _, c := range [][2]int{{2, 1}, {2, 2}, {7, 1}, {7, 5}, {7, 7}, {8, 8}, {1000, 513}, {1000, 1000}} {
		add(fmt.Sprintf("number %d of %d", c[1], c[0]), text(c[0], c[1]), "ok")
	}
	whole := text(7, 3)
	lines := strings.SplitAfter(whole, "\n")
	edit := func(name, old, new, want string) {
		if !strings.Contains(whole, old) {
			panic(old)
		}
		add(name, strings.Replace(whole, old, new, 1), want)
	}
	edit("another line", "line T-000015", "line T-000016", "root")
	edit("another number", "number 3", "number 4", "root")
	edit("another count with paths as long: the terms hold the count as well", "count 7", "count 8", "ok")
	edit("a count that makes the path too long", "count 7", "count 3", "root")
	edit("another salt", lines[5], "salt AAAAAAAAAAAAAAAAAAAAAA==\n", "root")
	edit("another root", lines[2], "root "+lines[6], "root")
	add("a hash of the path less", strings.Join(lines[:8], ""), "root")
	add("a hash of the path more", whole+lines[6], "root")
	add("two hashes of the path exchanged", strings.Join([]string{strings.Join(lines[:6], ""), lines[7], lines[6],
		lines[8]}, ""), "root")
	edit("number 0", "number 3", "number 0", "malformed")
	edit("a number above the count", "number 3", "number 8", "malformed")
	edit("a leading zero", "number 3", "number 03", "malformed")
	edit("a count of 1", "count 7", "count 1", "malformed")
	edit("a count above the largest list", "count 7", "count 1073741825", "malformed")
	edit("a count above 2^64", "count 7", "count 18446744073709551617", "malformed")
	edit("a line with a space", "line T-000015", "line T 000015", "malformed")
	edit("no line", "line T-000015\n", "", "malformed")
	edit("a line of 65 bytes", "T-000015", strings.Repeat("T", 65), "malformed")
	edit("a salt of 15 bytes", lines[5], "salt AAAAAAAAAAAAAAAAAAAA\n", "malformed")
	edit("base64 without padding", lines[6], strings.Replace(lines[6], "=", "", 1), "malformed")
	edit("members in another order", lines[1]+lines[2], lines[2]+lines[1], "malformed")
	add("no newline at the end", strings.TrimSuffix(whole, "\n"), "malformed")
	add("an empty line at the end", whole+"\n", "malformed")
	add("carriage returns", strings.ReplaceAll(whole, "\n", "\r\n"), "malformed")
	add("nothing", "", "malformed")
	add("only the first line", lines[0], "malformed")
	add("above 2,048 bytes", whole+strings.Repeat(lines[6], 50), "malformed")
	edit("version 2", "shuffled/v1/ticket", "shuffled/v2/ticket", "unknown")
	edit("version 0", "shuffled/v1/ticket", "shuffled/v0/ticket", "malformed")
	edit("version 02", "shuffled/v1/ticket", "shuffled/v02/ticket", "malformed")
	edit("another format", "shuffled/v1/ticket", "shuffled/v1/tickets", "malformed")
}
