package audit

import (
	"bytes"
	"crypto/aes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"regexp"
	"strconv"
)

// This file and reference_order_test.go do the hashes of docs/SPEC.md sections 1.5, 4 and 6 once more, slowly, from the
// text alone. They share nothing with the package. The package is held against them, and the data files in testdata are
// written by them.

// refJoin joins integers of fixed width and byte strings.
func refJoin(parts ...any) []byte {
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

func refStr8(s string) []byte { return refJoin(uint8(len(s)), s) }

func refSum(parts ...any) []byte {
	h := sha256.Sum256(refJoin(parts...))
	return h[:]
}

func refCommitment(context, tape []byte) []byte {
	return refSum("shuffled/v1/commitment\000", uint16(len(context)), context, uint32(len(tape)), tape)
}

func refHMAC(key []byte, parts ...any) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(refJoin(parts...))
	return m.Sum(nil)
}

// refSalts returns n salts. HKDF is RFC 5869: one block of output is T(1) = HMAC(PRK, info ‖ 0x01). CTR mode is the
// encryption of 0, 1, 2 … as 16-byte integers; a salt takes two blocks.
func refSalts(commitment, tape []byte, n int) (salts [][]byte) {
	prk := refHMAC(commitment, tape)
	key := refHMAC(prk, "shuffled/v1/salt\000", uint8(1))
	for p := range uint64(n) {
		salts = append(salts, refJoin(refBlock(key, 2*p), refBlock(key, 2*p+1)))
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
	block.Encrypt(out, refJoin(uint64(0), i))
	return out
}

// refTag is the tag of section 6.3.
func refTag(commitment, context []byte) []byte {
	return refSum("shuffled/v1/pos\000", commitment, context)[:16]
}

func refLeaf(tag []byte, position uint16, value uint32, salt []byte) []byte {
	return refSum(uint8(0), tag, position, value, salt)
}

// refEntryLeaf is the RFC 6962 leaf hash of an entry.
func refEntryLeaf(entry []byte) []byte { return refSum(uint8(0), entry) }

func refNode(left, right []byte) []byte { return refSum(uint8(1), left, right) }

// refSplit is the k of RFC 6962: the largest power of two below n.
func refSplit(n int) int {
	k := 1
	for 2*k < n {
		k *= 2
	}
	return k
}

// refRoot is MTH(D[n]) of RFC 6962 section 2.1, over leaf hashes.
func refRoot(leaves [][]byte) []byte {
	switch n := len(leaves); n {
	case 0:
		return refSum()
	case 1:
		return leaves[0]
	default:
		k := refSplit(n)
		return refNode(refRoot(leaves[:k]), refRoot(leaves[k:]))
	}
}

// refPath is PATH(m, D[n]) of RFC 6962 section 2.1.1.
func refPath(m int, leaves [][]byte) [][]byte {
	n := len(leaves)
	if n == 1 {
		return nil
	}
	k := refSplit(n)
	if m < k {
		return append(refPath(m, leaves[:k]), refRoot(leaves[k:]))
	}
	return append(refPath(m-k, leaves[k:]), refRoot(leaves[:k]))
}

var errRefPath = errors.New("a path of another length")

// refRootOf is the root to which leaf m of n and a path lead: the definition of refPath read backwards.
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
		return refNode(left, last), err
	}
	right, err := refRootOf(m-k, n-k, leaf, path[:len(path)-1])
	return refNode(last, right), err
}

// refOpens is section 6.4.
func refOpens(tag, root []byte, m, position int, value uint32, salt []byte, path [][]byte) bool {
	if position < 0 || position >= m {
		return false
	}
	got, err := refRootOf(position, m, refLeaf(tag, uint16(position), value, salt), path)
	return err == nil && bytes.Equal(got, root)
}

func refSlotHash(origin, table string, r []byte) []byte {
	return refSum("shuffled/v1/slot\000", refStr8(origin), refStr8(table), r)
}

func refKeyID(key []byte) []byte { return refSum("shuffled/v1/key-id\000", key) }

func refReference(salt []byte, value string) string {
	h := refSum("shuffled/v1/reference\000", uint8(len(salt)), salt, uint16(len(value)), value)
	return "h." + base64.RawURLEncoding.EncodeToString(h)
}

// refUUIDv7 is the text form of a UUID of version 7 (RFC 9562 sections 4 and
// 5.7): the version digit is 7, the two highest bits of the variant are 10.
var refUUIDv7 = regexp.MustCompile(`^([0-9a-fA-F]{8})-([0-9a-fA-F]{4})-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`)

func refKeyTag(origin, identity, table, key string) []byte {
	var t uint64
	if m := refUUIDv7.FindStringSubmatch(key); m != nil {
		t, _ = strconv.ParseUint(m[1]+m[2], 16, 64)
	}
	h := refSum("shuffled/v1/key-tag\000", refStr8(origin), refStr8(identity), refStr8(table), refStr8(key))
	return append(refJoin(t)[2:], h[:26]...)
}

func refDeckRoot(context, tape []byte, values []uint32) []byte {
	var leaves [][]byte
	commitment := refCommitment(context, tape)
	for p, salt := range refSalts(commitment, tape, len(values)) {
		leaves = append(leaves, refLeaf(refTag(commitment, context), uint16(p), values[p], salt))
	}
	return refRoot(leaves)
}

func refBlob(b []byte) []byte { return refJoin(uint16(len(b)), b) }
