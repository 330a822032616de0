package audit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	s := fold(t, told.values())
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

// TestFullNote: lines of ML-DSA-44 fill a checkpoint, the policy of their witnesses an
// entry, and the checkpoint with the longest entry and proof a receipt.
func TestFullNote(t *testing.T) {
	t.Parallel()
	var policy strings.Builder
	var lines []string
	for i, size := 0, len(mldsaNote()); ; i++ {
		name := fmt.Sprintf("witness.example/%d", i)
		line := refMLDSALine(name, name, 7, sampleOrigin, mldsaSize, mldsaRoot)
		words := fmt.Sprintf("witness w%d %s\n", i, refMLDSAKey(name, name))
		if size += len(line); size > MaxCheckpoint-20 || policy.Len()+len(words) > MaxPolicy-100 {
			break
		}
		lines = append(lines, line)
		policy.WriteString(words)
	}
	policy.WriteString("group g all")
	for i := range lines {
		fmt.Fprintf(&policy, " w%d", i)
	}
	policy.WriteString("\nquorum g\n#")
	text := policy.String() + strings.Repeat("x", MaxPolicy-policy.Len())
	p, err := ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	signed := string(mldsaNote(lines...))
	fill := MaxCheckpoint - len(signed) - len("—  AAAAAAAA\n")
	signed += "— " + strings.Repeat("z", fill) + " AAAAAAAA\n"
	if len(signed) != MaxCheckpoint || len(text) != MaxPolicy {
		t.Fatalf("%d and %d bytes", len(signed), len(text))
	}
	if len(lines) < 17 || !p.Satisfied([]byte(signed)) {
		t.Errorf("%d witnesses do not meet the quorum", len(lines))
	}
	r := Receipt{Index: MaxInteger - 1, Entry: make([]byte, MaxEntry), Checkpoint: []byte(signed)}
	for range MaxProof {
		r.Proof = append(r.Proof, [32]byte{})
	}
	if _, err := ParseReceipt(r.Text()); err != nil {
		t.Error(err)
	}
	told := newStory()
	s := fold(t, told.values())
	if err := s.Apply(told.dated(told.key(refKey{Subject: 4, Policy: text})).entry()); err != nil {
		t.Error(err)
	}
}

// TestLaterPolicyOfCoDealer: a policy whose witnesses are of a later type is no fault of the house.
func TestLaterPolicyOfCoDealer(t *testing.T) {
	s := NewState()
	s.genesis = &Genesis{Origin: "cards.example/main"}
	for text, want := range map[string]bool{"log LOG\nwitness a LATER\nquorum a\n": true, "quorum\n": false} {
		k := &Key{Subject: SubjectCoDealer, Origin: "lab.example/orders", Public: sampleGenesis().SigningKey,
			Policy: []byte(policyWords.Replace(text))}
		err := s.checkCoDealer(k)
		var broken *Illegal
		if errors.Is(err, ErrUnknown) != want || errors.As(err, &broken) == want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
