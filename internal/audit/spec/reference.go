// Package spec is docs/SPEC.md once more, for tests: encodings, hashes and signed texts, written from the text alone,
// with entries and whole ledgers to try, and the data files, which it writes.
package spec

import (
	"bytes"
	"crypto/aes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
)

// This file does the hashes of docs/SPEC.md sections 1.5, 4 and 6 once more, slowly, from the text alone. It shares
// nothing with the product, which is held against it, and the data files in testdata are written by it.

// Join joins integers of fixed width and byte strings.
func Join(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b.WriteString(p)
		case []byte:
			b.Write(p)
		default:
			binary.Write(&b, binary.BigEndian, p)
		}
	}
	return b.Bytes()
}

// Str8 is a string after a byte of its length.
func Str8(s string) []byte { return Join(uint8(len(s)), s) }

// Sum is SHA-256 of what Join joins.
func Sum(parts ...any) []byte {
	h := sha256.Sum256(Join(parts...))
	return h[:]
}

// Commitment is that of section 6.1.
func Commitment(context, tape []byte) []byte {
	return Sum("shuffled/v1/commitment\000", uint16(len(context)), context, uint32(len(tape)), tape)
}

// HMAC is HMAC-SHA-256 of what Join joins.
func HMAC(key []byte, parts ...any) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(Join(parts...))
	return m.Sum(nil)
}

// Salts returns n salts. HKDF is RFC 5869: one block of output is T(1) = HMAC(PRK, info ‖ 0x01). CTR mode is the
// encryption of 0, 1, 2 … as 16-byte integers; a salt takes two blocks.
func Salts(commitment, tape []byte, n int) (salts [][]byte) {
	prk := HMAC(commitment, tape)
	key := HMAC(prk, "shuffled/v1/salt\000", uint8(1))
	for p := range uint64(n) {
		salts = append(salts, Join(refBlock(key, 2*p), refBlock(key, 2*p+1)))
	}
	return salts
}

// refBlock is block number i of the AES-256-CTR keystream of key.
func refBlock(key []byte, i uint64) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, 16)
	block.Encrypt(out, Join(uint64(0), i))
	return out
}

// Tag is the tag of section 6.3.
func Tag(commitment, context []byte) []byte {
	return Sum("shuffled/v1/pos\000", commitment, context)[:16]
}

// Leaf is the hash of section 6.3.
func Leaf(tag []byte, position uint16, value uint32, salt []byte) []byte {
	return Sum(uint8(0), tag, position, value, salt)
}

// EntryLeaf is the RFC 6962 leaf hash of an entry.
func EntryLeaf(entry []byte) []byte { return Sum(uint8(0), entry) }

// Node is the hash of two nodes by RFC 6962.
func Node(left, right []byte) []byte { return Sum(uint8(1), left, right) }

// refSplit is the k of RFC 6962: the largest power of two below n.
func refSplit(n int) int {
	k := 1
	for 2*k < n {
		k *= 2
	}
	return k
}

// Root is MTH(D[n]) of RFC 6962 section 2.1, over leaf hashes.
func Root(leaves [][]byte) []byte {
	switch n := len(leaves); n {
	case 0:
		return Sum()
	case 1:
		return leaves[0]
	default:
		k := refSplit(n)
		return Node(Root(leaves[:k]), Root(leaves[k:]))
	}
}

// Path is PATH(m, D[n]) of RFC 6962 section 2.1.1.
func Path(m int, leaves [][]byte) [][]byte {
	n := len(leaves)
	if n == 1 {
		return nil
	}
	k := refSplit(n)
	if m < k {
		return append(Path(m, leaves[:k]), Root(leaves[k:]))
	}
	return append(Path(m-k, leaves[k:]), Root(leaves[:k]))
}

var errRefPath = errors.New("a path of another length")

// refRootOf is the root to which leaf m of n and a path lead: the definition of Path read backwards.
func refRootOf(m, n int, leaf []byte, path [][]byte) ([]byte, error) {
	if n == 1 {
		if len(path) != 0 {
			return nil, errRefPath
		}
		return leaf, nil
	}
	if len(path) == 0 {
		return nil, errRefPath
	}
	k, last := refSplit(n), path[len(path)-1]
	if m < k {
		left, err := refRootOf(m, k, leaf, path[:len(path)-1])
		return Node(left, last), err
	}
	right, err := refRootOf(m-k, n-k, leaf, path[:len(path)-1])
	return Node(last, right), err
}

// Opens is section 6.4.
func Opens(tag, root []byte, m, position int, value uint32, salt []byte, path [][]byte) bool {
	if position < 0 || position >= m {
		return false
	}
	got, err := refRootOf(position, m, Leaf(tag, uint16(position), value, salt), path)
	return err == nil && bytes.Equal(got, root)
}

// SlotHash is that of section 4.1.
func SlotHash(origin, table string, r []byte) []byte {
	return Sum("shuffled/v1/slot\000", Str8(origin), Str8(table), r)
}

// KeyID is that of section 5.7.
func KeyID(key []byte) []byte { return Sum("shuffled/v1/key-id\000", key) }

// Reference is that of section 1.5.
func Reference(salt []byte, value string) string {
	h := Sum("shuffled/v1/reference\000", uint8(len(salt)), salt, uint16(len(value)), value)
	return "h." + base64.RawURLEncoding.EncodeToString(h)
}

// refUUIDv7 is the text form of a UUID of version 7 (RFC 9562 sections 4 and
// 5.7): the version digit is 7, the two highest bits of the variant are 10.
var refUUIDv7 = regexp.MustCompile(`^([0-9a-fA-F]{8})-([0-9a-fA-F]{4})-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`)

// KeyTag is that of section 5.3.
func KeyTag(origin, identity, table, key string) []byte {
	var t uint64
	if m := refUUIDv7.FindStringSubmatch(key); m != nil {
		t, _ = strconv.ParseUint(m[1]+m[2], 16, 64)
	}
	h := Sum("shuffled/v1/key-tag\000", Str8(origin), Str8(identity), Str8(table), Str8(key))
	return append(Join(t)[2:], h[:26]...)
}

// DeckRoot is that of the values by position, with the salts of the tape.
func DeckRoot(context, tape []byte, values []uint32) []byte {
	var leaves [][]byte
	commitment := Commitment(context, tape)
	for p, salt := range Salts(commitment, tape, len(values)) {
		leaves = append(leaves, Leaf(Tag(commitment, context), uint16(p), values[p], salt))
	}
	return Root(leaves)
}

// Blob is a byte string after two bytes of its length.
func Blob(b []byte) []byte { return Join(uint16(len(b)), b) }

// Orders and places of docs/SPEC.md sections 2 to 4 from the text.

// refStream reads lanes from a source of bytes.
type refStream struct{ next func() byte }

// refKeystream is the AES-256-CTR keystream of a seed.
func refKeystream(seed []byte) *refStream {
	var block uint64
	var rest []byte
	return &refStream{func() byte {
		if len(rest) == 0 {
			rest = refBlock(seed, block)
			block++
		}
		b := rest[0]
		rest = rest[1:]
		return b
	}}
}

// refTape is a tape; it panics when it runs out.
func refTape(tape []byte) *refStream {
	return &refStream{func() byte {
		b := tape[0]
		tape = tape[1:]
		return b
	}}
}

func (s *refStream) lane(w int) (x uint64) {
	for range w {
		x = x<<8 | uint64(s.next())
	}
	return x
}

// refWidth is the lane width of section 2.1.
func refWidth(k uint64) int {
	switch {
	case k == 1:
		return 0
	case k <= 64:
		return 1
	case k <= 16384:
		return 2
	}
	return 4
}

func (s *refStream) draw(k uint64) uint64 {
	w := refWidth(k)
	if w == 0 {
		return 1
	}
	limit := uint64(1) << (8 * w) / k * k
	for {
		if x := s.lane(w); x < limit {
			return 1 + x%k
		}
	}
}

// shuffle takes m of n cards, section 2.2.
func (s *refStream) shuffle(n, m int) []int {
	a := make([]int, n)
	for i := range a {
		a[i] = i
	}
	for i := range m {
		j := i + int(s.draw(uint64(n-i))) - 1
		a[i], a[j] = a[j], a[i]
	}
	return a[:m]
}

// Spend is what a tape gives: the values by position, and a drawn end_at.
func Spend(c *Context, tape []byte) (values []uint32, endAt uint64) {
	s := refTape(tape)
	if c.Kind == 1 {
		for _, card := range s.shuffle(int(c.Cards), int(c.Take)) {
			values = append(values, uint32(card))
		}
	}
	for _, k := range Ranges(c) {
		values = append(values, uint32(s.draw(uint64(k))))
	}
	if c.EndAt.Form == 2 {
		endAt = c.EndAt.Lo + s.draw(c.EndAt.Hi-c.EndAt.Lo+1) - 1
	}
	return values, endAt
}

// Ranges are those of the draws of a draw list, or of numbers (2.5).
func Ranges(c *Context) []uint32 {
	ranges := slices.Clone(c.Ranges)
	if c.Kind == 3 {
		for i := range c.Take {
			ranges = append(ranges, uint32(c.Of-i))
		}
	}
	return ranges
}

// Numbers is section 2.5, without an array of the n numbers: the swaps are undone from
// the last to the first, for one place after the other.
func Numbers(draws []uint32) (numbers []uint32) {
	for i := range draws {
		at := i + int(draws[i]) - 1
		for p := i - 1; p >= 0; p-- {
			switch j := p + int(draws[p]) - 1; at {
			case p:
				at = j
			case j:
				at = p
			}
		}
		numbers = append(numbers, uint32(at)+1)
	}
	return numbers
}

// Seed is section 4.2; a cut is no part of it.
func Seed(commit []byte, values []Value) []byte {
	seed := append([]byte("shuffled/v1/mix\000"), EntryLeaf(commit)...)
	for _, v := range values {
		if v.Source != 3 {
			seed = append(seed, v.Value...)
		}
	}
	return Sum(seed)
}

// Positions is P of section 4.3 after the cut c, by place.
func Positions(seed []byte, m, c int) []int {
	p := refKeystream(seed).shuffle(m, m)
	after := make([]int, m)
	for i := range after {
		after[i] = p[(i+c)%m]
	}
	return after
}

// Shift is what the places of a draw list show.
func Shift(seed []byte, ranges, values []uint32) (shown []uint32) {
	s := refKeystream(seed)
	for i, k := range ranges {
		u := s.draw(uint64(k))
		shown = append(shown, uint32(1+(uint64(values[i])-1+u-1)%uint64(k)))
	}
	return shown
}

// Child is section 3.3: a child's values, given the parent's.
func Child(parent []uint32, positions []uint16, indexes []uint32) (values []uint32) {
	for _, x := range indexes {
		values = append(values, parent[positions[x]])
	}
	return values
}

// TapeLen is L of section 2.3 for a context.
func TapeLen(c *Context) int {
	var ks []uint64
	for i := range c.Take {
		if c.Kind == 1 {
			ks = append(ks, c.Cards-i)
		}
	}
	for _, k := range Ranges(c) {
		ks = append(ks, uint64(k))
	}
	if c.EndAt.Form == 2 {
		ks = append(ks, c.EndAt.Hi-c.EndAt.Lo+1)
	}
	sum, widest := 0, 1
	for _, k := range ks {
		sum += refWidth(k)
		widest = max(widest, refWidth(k))
	}
	return sum + (sum+1)/2 + 52*widest
}

// edPoint is an affine point of edwards25519, for naive arithmetic in tests.
type edPoint struct{ x, y *big.Int }

// The field and the curve −x² + y² = 1 + dx²y² of RFC 8032 section 5.1.
var (
	FieldP = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	curveD = new(big.Int).Mod(new(big.Int).Mul(big.NewInt(-121665),
		new(big.Int).ModInverse(big.NewInt(121666), FieldP)), FieldP)
)

func mulP(a, b *big.Int) *big.Int { return new(big.Int).Mod(new(big.Int).Mul(a, b), FieldP) }

// Decode is RFC 8032 section 5.1.3, by math/big; nil when there is no point.
func Decode(b []byte) *edPoint {
	y := bytes.Clone(b)
	sign := uint(y[31] >> 7)
	y[31] &= 0x7f
	slices.Reverse(y)
	n := new(big.Int).SetBytes(y)
	if n.Cmp(FieldP) >= 0 {
		return nil
	}
	y2 := mulP(n, n)
	num := new(big.Int).Sub(y2, big.NewInt(1))
	den := new(big.Int).Add(mulP(curveD, y2), big.NewInt(1))
	x := new(big.Int).ModSqrt(mulP(num.Mod(num, FieldP), new(big.Int).ModInverse(den, FieldP)), FieldP)
	if x == nil || x.Sign() == 0 && sign == 1 {
		return nil
	}
	if x.Bit(0) != sign {
		x.Sub(FieldP, x)
	}
	return &edPoint{x, n}
}

// Double adds a point to itself with the complete law of the curve.
func (p *edPoint) Double() *edPoint {
	one := big.NewInt(1)
	k := mulP(curveD, mulP(mulP(p.x, p.x), mulP(p.y, p.y)))
	x := mulP(mulP(big.NewInt(2), mulP(p.x, p.y)), new(big.Int).ModInverse(new(big.Int).Add(one, k), FieldP))
	den := new(big.Int).Mod(new(big.Int).Sub(one, k), FieldP)
	y := mulP(new(big.Int).Add(mulP(p.y, p.y), mulP(p.x, p.x)), new(big.Int).ModInverse(den, FieldP))
	return &edPoint{x, y}
}

// Identity tells whether the point is the neutral one.
func (p *edPoint) Identity() bool { return p.x.Sign() == 0 && p.y.Cmp(big.NewInt(1)) == 0 }
