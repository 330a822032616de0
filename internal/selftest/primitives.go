package selftest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	_ "embed"
	"strings"

	"shuffled/internal/known"
)

// primitives are the known-answer tests of the cryptographic primitives, by name, with the answers of the standards.
var primitives = map[string]func(*known.Answers){
	"sha-256": sha256Test, "hmac-sha-256": hmacTest, "hkdf-sha-256": hkdfTest, "aes-256-ctr": ctrTest,
	"aes-256-gcm": gcmTest,
	"ed25519":     ed25519Test, "hpke": hpkeTest, "hpke-hybrid": hybridTest,
}

func primitive(name string, a *known.Answers) { primitives[name](a) }

func sha256Test(a *known.Answers) {
	for _, c := range []struct{ name, message, digest string }{
		{"abc", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"two blocks", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"three blocks", "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
			"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
	} {
		sum := sha256.Sum256([]byte(c.message))
		a.Bytes(c.name, sum[:], nil, c.digest)
	}
	h := sha256.New()
	for _, b := range []byte("abc") {
		h.Write([]byte{b})
	}
	a.Bytes("abc, byte by byte", h.Sum(nil), nil, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
}

func hmacTest(a *known.Answers) {
	m := hmac.New(sha256.New, []byte(strings.Repeat("\x0b", 20)))
	m.Write([]byte("Hi There"))
	a.Bytes("test case 1", m.Sum(nil), nil, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
	m = hmac.New(sha256.New, []byte(strings.Repeat("\xaa", 131)))
	m.Write([]byte("Test Using Larger Than Block-Size Key - Hash Key First"))
	a.Bytes("test case 6", m.Sum(nil), nil, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
}

func hkdfTest(a *known.Answers) {
	secret, salt, info := known.Unhex("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"),
		known.Unhex("000102030405060708090a0b0c"), known.Unhex("f0f1f2f3f4f5f6f7f8f9")
	prk, err := hkdf.Extract(sha256.New, secret, salt)
	a.Bytes("extract", prk, err, "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
	const okm = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
	key, err := hkdf.Expand(sha256.New, prk, string(info), 42)
	a.Bytes("expand", key, err, okm)
	key, err = hkdf.Key(sha256.New, secret, salt, string(info), 42)
	a.Bytes("both at once", key, err, okm)
}

func ctrTest(a *known.Answers) {
	block, err := aes.NewCipher(known.Unhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))
	out := known.Unhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
	if err == nil {
		cipher.NewCTR(block, known.Unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")).XORKeyStream(out, out)
	}
	a.Bytes("four blocks", out, err, "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"+
		"2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6")
}

// gcmTest opens through the AEAD that the product uses, which carries its nonce
// in front; sealing takes a random one and has no known answer.
func gcmTest(a *known.Answers) {
	block, err := aes.NewCipher(known.Unhex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
	if err != nil {
		a.Is("the key", "", err, "")
		return
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		a.Is("the mode", "", err, "")
		return
	}
	box := known.Unhex("cafebabefacedbaddecaf888" + "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa" +
		"8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" + "76fc6ece0f4e1768cddf8853bb2d551b")
	data := known.Unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
	plain, err := aead.Open(nil, nil, box, data)
	a.Bytes("open", plain, err, "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"+
		"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
	box[len(box)-1] ^= 1
	_, err = aead.Open(nil, nil, box, data)
	a.Is("a bit of the tag", opened(err), nil, "refused")
	box[len(box)-1] ^= 1
	data[0] ^= 1
	_, err = aead.Open(nil, nil, box, data)
	a.Is("a bit of the associated data", opened(err), nil, "refused")
}

// opened is an answer about a box whose error has no name.
func opened(err error) string {
	if err != nil {
		return "refused"
	}
	return "opened"
}

func ed25519Test(a *known.Answers) {
	key := ed25519.NewKeyFromSeed(known.Unhex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"))
	public := known.Unhex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
	message := known.Unhex("af82")
	const signature = "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
	a.Bytes("public key of test 3", key.Public().(ed25519.PublicKey), nil,
		"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
	a.Bytes("sign test 3", ed25519.Sign(key, message), nil, signature)
	verdict := func(message, signature []byte) string {
		if ed25519.Verify(public, message, signature) {
			return "valid"
		}
		return "invalid"
	}
	sig := known.Unhex(signature)
	a.Is("verify test 3", verdict(message, sig), nil, "valid")
	a.Is("another message", verdict([]byte{0xaf, 0x83}, sig), nil, "invalid")
	sig[0] ^= 1
	a.Is("a bit of R", verdict(message, sig), nil, "invalid")
	sig[0] ^= 1
	sig[32] ^= 1
	a.Is("a bit of S", verdict(message, sig), nil, "invalid")
}

// hpkeVector is a box of HPKE; the hybrid one, in hpke-pq.json, is as its draft has it.
type hpkeVector struct {
	Private known.Bytes `json:"private"`
	Public  known.Bytes `json:"public"`
	Info    known.Bytes `json:"info"`
	Enc     known.Bytes `json:"enc"`
	Data    known.Bytes `json:"aad"`
	Sealed  known.Bytes `json:"ct"`
	Plain   known.Bytes `json:"pt"`
}

// hpkeTest opens the first box of the vector with the suite of docs/SPEC.md section 12.1.
func hpkeTest(a *known.Answers) {
	hpkeVector{
		Private: known.Unhex("317f915db7bc629c48fe765587897e01e282d3e8445f79f27f65d031a88082b2"),
		Public:  known.Unhex("04abc7e49a4c6b3566d77d0304addc6ed0e98512ffccf505e6a8e3eb25c685136f853148544876de76c0f2ef99cdc3a05ccf5ded7860c7c021238f9e2073d2356c"),
		Info:    []byte("Ode on a Grecian Urn"),
		Enc:     known.Unhex("04c06b4f6bebc7bb495cb797ab753f911aff80aefb86fd8b6fcc35525f3ab5f03e0b21bd31a86c6048af3cb2d98e0d3bf01da5cc4c39ff5370d331a4f1f7d5a4e0"),
		Data:    []byte("Count-0"),
		Sealed:  known.Unhex("58c61a45059d0c5704560e9d88b564a8b63f1364b8d1fcb3c4c6ddc1d291742465e902cd216f8908da49f8f96f"),
		Plain:   []byte("Beauty is truth, truth beauty"),
	}.run(a, hpke.DHKEM(ecdh.P256()), hpke.AES256GCM())
}

//go:embed hpke-pq.json
var hybridJSON []byte

// hybridTest opens the box of the draft's vector. It is with AES-128-GCM: the draft has
// none for this KEM and KDF with AES-256-GCM.
func hybridTest(a *known.Answers) {
	known.Load[hpkeVector](hybridJSON).run(a, hpke.MLKEM768P256(), hpke.AES128GCM())
}

func (v hpkeVector) run(a *known.Answers, kem hpke.KEM, aead hpke.AEAD) {
	key, err := kem.NewPrivateKey(v.Private)
	if err != nil {
		a.Is("the private key", "", err, "")
		return
	}
	a.Bytes("public key", key.PublicKey().Bytes(), nil, v.Public.String())
	open := func(enc, sealed, data []byte) ([]byte, error) {
		r, err := hpke.NewRecipient(enc, key, hpke.HKDFSHA256(), aead, v.Info)
		if err != nil {
			return nil, err
		}
		return r.Open(data, sealed)
	}
	plain, err := open(v.Enc, v.Sealed, v.Data)
	a.Bytes("open", plain, err, v.Plain.String())
	_, err = open(v.Enc, v.Sealed, append([]byte{'1'}, v.Data...))
	a.Is("other associated data", opened(err), nil, "refused")
	bent := func(b []byte, at int) []byte { b = bytes.Clone(b); b[at] ^= 1; return b }
	_, err = open(v.Enc, bent(v.Sealed, 0), v.Data)
	a.Is("a bit of the ciphertext", opened(err), nil, "refused")
	_, err = open(bent(v.Enc, 0), v.Sealed, v.Data)
	a.Is("a bit at the encapsulated key's beginning", opened(err), nil, "refused")
	_, err = open(bent(v.Enc, len(v.Enc)-1), v.Sealed, v.Data)
	a.Is("an encapsulated key off the curve", opened(err), nil, "refused")
}
