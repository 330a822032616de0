package disclosure

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"
)

// The reference is RFC 9180 for our one suite and base mode, written from its
// text: sections 4 (KDF), 4.1 (DHKEM), 5.1 (key schedule), 5.2 (AEAD). It shares
// no code with crypto/hpke, and its ephemeral key is given, so it always writes
// the same bytes.

var (
	refKEM  = []byte("KEM\x00\x10")
	refHPKE = []byte("HPKE\x00\x10\x00\x01\x00\x02")
)

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

// refSchedule is from the Diffie-Hellman value to key and nonce.
func refSchedule(dh, enc, receiver, info []byte) refContext {
	prk := refExtract(refKEM, nil, "eae_prk", dh)
	shared := refExpand(refKEM, prk, "shared_secret", slices.Concat(enc, receiver), 32)
	context := slices.Concat([]byte{0}, refExtract(refHPKE, nil, "psk_id_hash", nil),
		refExtract(refHPKE, nil, "info_hash", info))
	secret := refExtract(refHPKE, shared, "secret", nil)
	return refContext{shared, refExpand(refHPKE, secret, "key", context, 32),
		refExpand(refHPKE, secret, "base_nonce", context, 12)}
}

func (c refContext) aead(t testing.TB) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(c.key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return gcm
}

func refKey(t testing.TB, private []byte) *ecdh.PrivateKey {
	t.Helper()
	k, err := ecdh.P256().NewPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// refSeal seals with a given ephemeral key to the 65-byte point receiver.
func refSeal(t testing.TB, ephemeral, receiver, info, data, plain []byte) []byte {
	t.Helper()
	e := refKey(t, ephemeral)
	r, err := ecdh.P256().NewPublicKey(receiver)
	if err != nil {
		t.Fatal(err)
	}
	dh, err := e.ECDH(r)
	if err != nil {
		t.Fatal(err)
	}
	enc := e.PublicKey().Bytes()
	c := refSchedule(dh, enc, receiver, info)
	return slices.Concat(enc, c.aead(t).Seal(nil, c.nonce, plain, data))
}

// refOpen opens what was sealed to a private key; nil when it does not open.
func refOpen(t testing.TB, private, info, data, sealed []byte) []byte {
	t.Helper()
	r := refKey(t, private)
	e, err := ecdh.P256().NewPublicKey(sealed[:65])
	if err != nil {
		return nil
	}
	dh, err := r.ECDH(e)
	if err != nil {
		return nil
	}
	c := refSchedule(dh, sealed[:65], r.PublicKey().Bytes(), info)
	plain, err := c.aead(t).Open(nil, c.nonce, sealed[65:], data)
	if err != nil {
		return nil
	}
	return plain
}

// refInfo and refData are docs/SPEC.md section 12.
func refInfo(label, origin string) []byte {
	return slices.Concat([]byte("shuffled/v1/"+label+"\x00"), []byte{byte(len(origin))}, []byte(origin))
}

func refData(shuffle uint64, commitment []byte) []byte {
	return slices.Concat(binary.BigEndian.AppendUint64(nil, shuffle), commitment)
}

func refPublic(t testing.TB, private []byte) []byte {
	t.Helper()
	return append([]byte{1}, refKey(t, private).PublicKey().Bytes()...)
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReference holds the reference, and crypto/hpke as we call it, against the
// published vector of CFRG for mode base, KEM 0x0010, KDF 0x0001, AEAD 0x0002,
// first message (test-vectors.json of draft-irtf-cfrg-hpke; RFC 9180 appendix A
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
	if err != nil {
		t.Fatal(err)
	}
	c := refSchedule(dh, enc, public, info)
	for what, pair := range map[string][2][]byte{
		"shared secret": {c.shared, unhex(t, "48893fecd82f7c3456af6a42d8f56325d21e08c10fa81299986aaff54cde7b49")},
		"key":           {c.key, unhex(t, "ee16802a936d5f544771131900ee6973d0551de9e852ece2ef34bf0d5f9e1d1d")},
		"nonce":         {c.nonce, unhex(t, "9bc50980832a7b4b58c40161")},
		"public key":    {refKey(t, private).PublicKey().Bytes(), public},
		"sealed":        {refSeal(t, ephemeral, public, info, data, plain), sealed},
		"opened":        {refOpen(t, private, info, data, sealed), plain},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("%s: %x, want %x", what, pair[0], pair[1])
		}
	}
	k, err := kem().NewPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	// The vector's info is no origin of ours, so below infoOf.
	got, err := openInfo(k, info, data, sealed)
	if err != nil || !bytes.Equal(got, plain) {
		t.Errorf("crypto/hpke: %q, %v", got, err)
	}
}
