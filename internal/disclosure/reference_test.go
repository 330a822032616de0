package disclosure

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/mlkem"
	"crypto/mlkem/mlkemtest"
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The reference is RFC 9180 in base mode, written from its text: sections 4 (KDF), 4.1 (DHKEM), 5.1 (key schedule), 5.2
// (AEAD); and MLKEM768-P256 as docs/SPEC.md section 12.1 has it. It shares no code with crypto/hpke, and its ephemeral
// values are given, so it always writes the same bytes.

// refSuite is what the key schedule depends on.
type refSuite struct {
	kem, aead byte // identifiers, their low bytes
	key       int  // bytes of the AEAD's key
}

// ours is the suite of a key's type; RFC 9180 numbers AES-256-GCM 2.
func ours(kind byte) refSuite { return refSuite{map[byte]byte{1: 0x10, 2: 0x50}[kind], 2, 32} }

func (s refSuite) id() []byte { return []byte{'H', 'P', 'K', 'E', 0, s.kem, 0, 1, 0, s.aead} }

var refKEM = []byte("KEM\x00\x10")

func refMAC(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(slices.Concat(parts...))
	return h.Sum(nil)
}

// refExtract is LabeledExtract.
func refExtract(suite, salt []byte, label string, input []byte) []byte {
	return refMAC(salt, []byte("HPKE-v1"), suite, []byte(label), input)
}

// refExpand is LabeledExpand, of at most one block.
func refExpand(suite, key []byte, label string, info []byte, n int) []byte {
	length := binary.BigEndian.AppendUint16(nil, uint16(n))
	return refMAC(key, length, []byte("HPKE-v1"), suite, []byte(label), info, []byte{1})[:n]
}

type refContext struct{ shared, key, nonce []byte }

// refDH is the shared secret of DHKEM, from the Diffie-Hellman value.
func refDH(dh, enc, receiver []byte) []byte {
	return refExpand(refKEM, refExtract(refKEM, nil, "eae_prk", dh), "shared_secret", slices.Concat(enc, receiver), 32)
}

// refSchedule is from the shared secret to key and nonce.
func refSchedule(s refSuite, shared, info []byte) refContext {
	context := slices.Concat([]byte{0}, refExtract(s.id(), nil, "psk_id_hash", nil),
		refExtract(s.id(), nil, "info_hash", info))
	secret := refExtract(s.id(), shared, "secret", nil)
	return refContext{shared, refExpand(s.id(), secret, "key", context, s.key),
		refExpand(s.id(), secret, "base_nonce", context, 12)}
}

func (c refContext) aead(t testing.TB) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(c.key)
	must(t, err)
	gcm, err := cipher.NewGCM(block)
	must(t, err)
	return gcm
}

func refKey(t testing.TB, private []byte) *ecdh.PrivateKey {
	t.Helper()
	k, err := ecdh.P256().NewPrivateKey(private)
	must(t, err)
	return k
}

// refHalves are the two private keys that the seed of a hybrid key stands for.
func refHalves(t testing.TB, seed []byte) (*mlkem.DecapsulationKey768, *ecdh.PrivateKey) {
	t.Helper()
	expanded := sha3.SumSHAKE256(seed, 64+32) // a second scalar is drawn once in 2^32
	k, err := mlkem.NewDecapsulationKey768(expanded[:64])
	must(t, err)
	return k, refKey(t, expanded[64:])
}

// refCombine is the shared secret of MLKEM768-P256.
func refCombine(lattice, dh, point, receiver []byte) []byte {
	h := sha3.Sum256(slices.Concat(lattice, dh, point, receiver, []byte("MLKEM768-P256")))
	return h[:]
}

// refSeal seals with a given ephemeral key to a public key, type byte first. The
// randomness of ML-KEM is the ephemeral key's hash.
func refSeal(t testing.TB, ephemeral, receiver, info, data, plain []byte) []byte {
	t.Helper()
	e, point := refKey(t, ephemeral), receiver[len(receiver)-65:]
	r, err := ecdh.P256().NewPublicKey(point)
	must(t, err)
	dh, err := e.ECDH(r)
	must(t, err)
	enc, shared := e.PublicKey().Bytes(), refDH(dh, e.PublicKey().Bytes(), point)
	if receiver[0] == 2 {
		k, err := mlkem.NewEncapsulationKey768(receiver[1:1185])
		must(t, err)
		random := sha256.Sum256(ephemeral)
		lattice, ciphertext, err := mlkemtest.Encapsulate768(k, random[:])
		must(t, err)
		shared, enc = refCombine(lattice, dh, enc, point), slices.Concat(ciphertext, enc)
	}
	c := refSchedule(ours(receiver[0]), shared, info)
	return slices.Concat(enc, c.aead(t).Seal(nil, c.nonce, plain, data))
}

// refShared is the shared secret of an encapsulated key; nil for what is none.
func refShared(t testing.TB, kind byte, private, enc []byte) []byte {
	t.Helper()
	var lattice *mlkem.DecapsulationKey768
	var r *ecdh.PrivateKey
	if kind == 2 {
		lattice, r = refHalves(t, private)
	} else {
		r = refKey(t, private)
	}
	point, receiver := enc[len(enc)-65:], r.PublicKey().Bytes()
	e, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil
	}
	dh, err := r.ECDH(e)
	if err != nil {
		return nil
	}
	if kind == 1 {
		return refDH(dh, point, receiver)
	}
	secret, err := lattice.Decapsulate(enc[:1088])
	must(t, err)
	return refCombine(secret, dh, point, receiver)
}

// refOpen opens what was sealed to a private key; nil when it does not open.
func refOpen(t testing.TB, kind byte, private, info, data, sealed []byte) []byte {
	t.Helper()
	n := encOf(kind)
	c := refSchedule(ours(kind), refShared(t, kind, private, sealed[:n]), info)
	plain, err := c.aead(t).Open(nil, c.nonce, sealed[n:], data)
	if err != nil {
		return nil
	}
	return plain
}

// encOf is the length of an encapsulated key.
func encOf(kind byte) int { return map[byte]int{1: 65, 2: 1153}[kind] }

// refInfo and refData are docs/SPEC.md section 12.
func refInfo(kind byte, label, origin string) []byte {
	info := slices.Concat([]byte("shuffled/v1/"+label+"\x00"), []byte{byte(len(origin))}, []byte(origin))
	if kind == 2 {
		info = append(info, 2)
	}
	return info
}

func refData(shuffle uint64, commitment []byte) []byte {
	return slices.Concat(binary.BigEndian.AppendUint64(nil, shuffle), commitment)
}

func refPublic(t testing.TB, kind byte, private []byte) []byte {
	t.Helper()
	if kind == 1 {
		return append([]byte{1}, refKey(t, private).PublicKey().Bytes()...)
	}
	lattice, point := refHalves(t, private)
	return slices.Concat([]byte{2}, lattice.EncapsulationKey().Bytes(), point.PublicKey().Bytes())
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	must(t, err)
	return b
}

// TestReference holds the reference, and crypto/hpke as we call it, against the published vector of CFRG for mode base,
// KEM 0x0010, KDF 0x0001, AEAD 0x0002, first message (test-vectors.json of draft-irtf-cfrg-hpke; RFC 9180 appendix A
// prints the same suite with AES-128).
func TestReference(t *testing.T) {
	info := unhex(t, "4f6465206f6e2061204772656369616e2055726e")
	ephemeral := unhex(t, "90345e3a1d116c1dd39ae76d95ab858c142223a63e44f8f85318cfa91a84858e")
	private := unhex(t, "317f915db7bc629c48fe765587897e01e282d3e8445f79f27f65d031a88082b2")
	public := unhex(t, "04abc7e49a4c6b3566d77d0304addc6ed0e98512ffccf505e6a8e3eb25c685136f853148544876de76c0f2ef99cdc3a05ccf5ded7860c7c021238f9e2073d2356c")
	enc := unhex(t, "04c06b4f6bebc7bb495cb797ab753f911aff80aefb86fd8b6fcc35525f3ab5f03e0b21bd31a86c6048af3cb2d98e0d3bf01da5cc4c39ff5370d331a4f1f7d5a4e0")
	data, plain := []byte("Count-0"), []byte("Beauty is truth, truth beauty")
	sealed := slices.Concat(enc, unhex(t,
		"58c61a45059d0c5704560e9d88b564a8b63f1364b8d1fcb3c4c6ddc1d291742465e902cd216f8908da49f8f96f"))

	dh, err := refKey(t, private).ECDH(refKey(t, ephemeral).PublicKey())
	must(t, err)
	c := refSchedule(ours(1), refDH(dh, enc, public), info)
	for what, pair := range map[string][2][]byte{
		"shared secret": {c.shared, unhex(t, "48893fecd82f7c3456af6a42d8f56325d21e08c10fa81299986aaff54cde7b49")},
		"key":           {c.key, unhex(t, "ee16802a936d5f544771131900ee6973d0551de9e852ece2ef34bf0d5f9e1d1d")},
		"nonce":         {c.nonce, unhex(t, "9bc50980832a7b4b58c40161")},
		"public key":    {refKey(t, private).PublicKey().Bytes(), public},
		"sealed":        {refSeal(t, ephemeral, append([]byte{1}, public...), info, data, plain), sealed},
		"opened":        {refOpen(t, 1, private, info, data, sealed), plain},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("%s: %x, want %x", what, pair[0], pair[1])
		}
	}
	k, err := newKey(typed(1, private))
	must(t, err)
	// The vector's info is no origin of ours, so below infoOf.
	got, err := k.openInfo(info, data, sealed)
	if err != nil || !bytes.Equal(got, plain) {
		t.Errorf("crypto/hpke: %q, %v", got, err)
	}
}

// TestHybridReference holds the reference, and the KEM as we have it from crypto/hpke, against the vector of
// draft-ietf-hpke-pq-03 for KEM 0x0050 and KDF 0x0001. It is with AES-128-GCM: the draft has none with our AEAD.
func TestHybridReference(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "selftest", "hpke-pq.json"))
	must(t, err)
	var v map[string]string
	must(t, json.Unmarshal(b, &v))
	of := func(name string) []byte { return unhex(t, v[name]) }
	shared := refShared(t, 2, of("private"), of("enc"))
	c := refSchedule(refSuite{0x50, 1, 16}, shared, of("info"))
	opened, err := c.aead(t).Open(nil, c.nonce, of("ct"), of("aad"))
	must(t, err)
	for name, got := range map[string][]byte{"pt": opened, "public": refPublic(t, 2, of("private"))[1:]} {
		if !bytes.Equal(got, of(name)) {
			t.Errorf("%s: %x, want %s", name, got, v[name])
		}
	}
	k, err := newKey(typed(2, of("private")))
	if err != nil || !bytes.Equal(k.public[1:], of("public")) {
		t.Fatal("crypto/hpke: another public key", err)
	}
	r, err := hpke.NewRecipient(of("enc"), k, hpke.HKDFSHA256(), hpke.AES128GCM(), of("info"))
	must(t, err)
	if got, err := r.Open(of("aad"), of("ct")); err != nil || !bytes.Equal(got, of("pt")) {
		t.Errorf("crypto/hpke: %x, %v", got, err)
	}
}
