package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"math/big"
	"slices"
	"testing"
)

// TestKeysInForce: what the sequencer wraps to, seals to and rotates by, after
// every entry of a ledger in which keys come and go.
func TestKeysInForce(t *testing.T) {
	t.Parallel()
	s, story := NewState(), newStory(withAuditors("1", "2"))
	story.then(story.disclosure("1", "1", "2"))
	story.then(story.auditor("3"))
	story.then(story.disclosure("2", "1", "2", "3"))
	story.then(story.retire(2, auditorKey("disclosure 1")))
	story.then(story.retire(2, auditorKey("disclosure 2")))
	story.then(story.disclosure("3", "1", "2", "3"))
	story.then(story.retire(3, auditorKey("1")))
	story.then(story.key(refKey{Subject: 4, Policy: "quorum none\n"}))
	want := []struct {
		auditors   []string
		index      uint64
		disclosure string
		usable     bool
		policy     string
	}{
		{auditors: []string{"1", "2"}},
		{auditors: []string{"1", "2"}},
		{[]string{"1", "2"}, 2, "disclosure 1", true, ""},
		{[]string{"1", "2", "3"}, 2, "disclosure 1", false, ""},
		{[]string{"1", "2", "3"}, 4, "disclosure 2", true, ""},
		{[]string{"1", "2", "3"}, 4, "disclosure 2", true, ""},
		{[]string{"1", "2", "3"}, 4, "disclosure 2", false, ""},
		{[]string{"1", "2", "3"}, 7, "disclosure 3", true, ""},
		{[]string{"2", "3"}, 7, "disclosure 3", false, ""},
		{[]string{"2", "3"}, 7, "disclosure 3", false, "quorum none\n"},
	}
	for i, w := range want {
		e := story.entries[i]
		e.Time += uint64(i)
		if err := s.Apply(e.entry()); err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		var auditors [][]byte
		for _, name := range w.auditors {
			auditors = append(auditors, auditorKey(name))
		}
		slices.SortFunc(auditors, func(a, b []byte) int { return bytes.Compare(refKeyID(a), refKeyID(b)) })
		if got := s.AuditorKeys(); !slices.EqualFunc(got, auditors, bytes.Equal) {
			t.Errorf("after entry %d: %d auditor keys, want %q in order of id", i, len(got), w.auditors)
		}
		var public []byte
		var since int64
		if w.index > 0 {
			public, since = auditorKey(w.disclosure), int64(story.entries[w.index].Time+w.index)
		}
		index, key, at, usable := s.DisclosureKey()
		if index != w.index || !bytes.Equal(key, public) || at != since || usable != w.usable {
			t.Errorf("after entry %d: disclosure key %d of %d, usable %t: %x", i, index, at, usable, key)
		}
		if string(s.keys.policy) != w.policy {
			t.Errorf("after entry %d: policy %q", i, s.keys.policy)
		}
	}
}

// TestLaterWitness: a policy with a witness key of a later type breaks no rule
// that this version knows. It cannot be judged, and changes nothing.
func TestLaterWitness(t *testing.T) {
	t.Parallel()
	later := policyWords.Replace("witness w LATER\nquorum w\n")
	told := newStory()
	s := fold(t, told.model())
	before := s.Encode()
	if err := s.Apply(told.dated(told.key(refKey{Subject: 4, Policy: later})).entry()); faultOf(err) != unknown ||
		!bytes.Equal(s.Encode(), before) {
		t.Errorf("a key entry: %v", err)
	}
	genesis := newStory(func(g *refGenesis) { g.Policy = later }).entries[0].entry()
	if err := NewState().Apply(genesis); faultOf(err) != unknown {
		t.Errorf("a genesis: %v", err)
	}
}

// TestSmallR: who holds the key can sign with R = 0·B, which Go's verification takes
// and docs/SPEC.md section 7.1 refuses, under an act as under a checkpoint.
func TestSmallR(t *testing.T) {
	t.Parallel()
	key, text := adminSigner("alice"), []byte("an act")
	public := key.Public().(ed25519.PublicKey)
	little := func(b []byte) *big.Int {
		b = slices.Clone(b)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	h := sha512.Sum512(key.Seed())
	h[0], h[31] = h[0]&248, h[31]&127|64
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989",
		10)
	r := append([]byte{1}, make([]byte, 31)...)
	k := sha512.Sum512(slices.Concat(r, public, text))
	s := new(big.Int).Mul(little(k[:]), little(h[:32]))
	scalar := s.Mod(s, order).FillBytes(make([]byte, 32))
	slices.Reverse(scalar)
	signature := append(r, scalar...)
	if !ed25519.Verify(public, text, signature) {
		t.Fatal("the signature is none")
	}
	if verifyEd25519(public, text, signature) {
		t.Error("R of small order is accepted")
	}
	if !verifyEd25519(public, text, ed25519.Sign(key, text)) {
		t.Error("a signature is refused")
	}
}
