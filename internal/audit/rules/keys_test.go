package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/audit/trust"
)

// TestKeysInForce: what the sequencer wraps to, seals to and rotates by, after
// every entry of a ledger in which keys come and go.
func TestKeysInForce(t *testing.T) {
	t.Parallel()
	s, story := NewState(), spec.NewStory(spec.WithAuditors("1", "2"))
	story.Then(story.Disclosure("1", "1", "2"))
	story.Then(story.Auditor("3"))
	story.Then(story.Disclosure("2", "1", "2", "3"))
	story.Then(story.Retire(2, spec.AuditorKey("disclosure 1")))
	story.Then(story.Retire(2, spec.AuditorKey("disclosure 2")))
	story.Then(story.Disclosure("3", "1", "2", "3"))
	story.Then(story.Retire(3, spec.AuditorKey("1")))
	story.Then(story.Key(spec.Key{Subject: 4, Policy: "quorum none\n"}))
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
		e := story.Entries[i]
		e.Time += uint64(i)
		if err := s.Apply(e.Value()); err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		var auditors [][]byte
		for _, name := range w.auditors {
			auditors = append(auditors, spec.AuditorKey(name))
		}
		slices.SortFunc(auditors, func(a, b []byte) int { return bytes.Compare(spec.KeyID(a), spec.KeyID(b)) })
		if got := s.AuditorKeys(); !slices.EqualFunc(got, auditors, bytes.Equal) {
			t.Errorf("after entry %d: %d auditor keys, want %q in order of id", i, len(got), w.auditors)
		}
		var public []byte
		var since int64
		if w.index > 0 {
			public, since = spec.AuditorKey(w.disclosure), int64(story.Entries[w.index].Time+w.index)
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
	later := spec.PolicyWords.Replace("witness w LATER\nquorum w\n")
	told := spec.NewStory()
	s := fold(t, told.Values())
	before := s.Encode()
	if err := s.Apply(told.Dated(told.Key(spec.Key{Subject: 4, Policy: later})).Value()); spec.FaultOf(err) != spec.Unknown ||
		!bytes.Equal(s.Encode(), before) {
		t.Errorf("a key entry: %v", err)
	}
	genesis := spec.NewStory(func(g *spec.Genesis) { g.Policy = later }).Entries[0].Value()
	if err := NewState().Apply(genesis); spec.FaultOf(err) != spec.Unknown {
		t.Errorf("a genesis: %v", err)
	}
}

// TestFullNote: lines of ML-DSA-44 fill a checkpoint, the policy of their witnesses an
// entry, and the checkpoint with the longest entry and proof a receipt.
func TestFullNote(t *testing.T) {
	t.Parallel()
	var policy strings.Builder
	var lines []string
	for i, size := 0, len(spec.MLDSANote()); ; i++ {
		name := fmt.Sprintf("witness.example/%d", i)
		line := spec.MLDSALine(name, name, 7, spec.SampleOrigin, spec.MLDSASize, spec.MLDSARoot)
		words := fmt.Sprintf("witness w%d %s\n", i, spec.MLDSAKey(name, name))
		if size += len(line); size > audit.MaxCheckpoint-20 || policy.Len()+len(words) > audit.MaxPolicy-100 {
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
	text := policy.String() + strings.Repeat("x", audit.MaxPolicy-policy.Len())
	p, err := trust.ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	signed := string(spec.MLDSANote(lines...))
	fill := audit.MaxCheckpoint - len(signed) - len("—  AAAAAAAA\n")
	signed += "— " + strings.Repeat("z", fill) + " AAAAAAAA\n"
	if len(signed) != audit.MaxCheckpoint || len(text) != audit.MaxPolicy {
		t.Fatalf("%d and %d bytes", len(signed), len(text))
	}
	if len(lines) < 17 || !p.Satisfied([]byte(signed)) {
		t.Errorf("%d witnesses do not meet the quorum", len(lines))
	}
	r := audit.Receipt{Index: audit.MaxInteger - 1, Entry: make([]byte, audit.MaxEntry), Checkpoint: []byte(signed)}
	for range audit.MaxProof {
		r.Proof = append(r.Proof, [32]byte{})
	}
	if _, err := audit.ParseReceipt(r.Text()); err != nil {
		t.Error(err)
	}
	told := spec.NewStory()
	s := fold(t, told.Values())
	if err := s.Apply(told.Dated(told.Key(spec.Key{Subject: 4, Policy: text})).Value()); err != nil {
		t.Error(err)
	}
}

// TestLaterPolicyOfCoDealer: a policy whose witnesses are of a later type is no fault of the house.
func TestLaterPolicyOfCoDealer(t *testing.T) {
	s := NewState()
	s.genesis = &audit.Genesis{Origin: "cards.example/main"}
	for text, want := range map[string]bool{"log LOG\nwitness a LATER\nquorum a\n": true, "quorum\n": false} {
		k := &audit.Key{Subject: audit.SubjectCoDealer, Origin: "lab.example/orders",
			Public: spec.SampleGenesis().SigningKey, Policy: []byte(spec.PolicyWords.Replace(text))}
		err := s.checkCoDealer(k)
		var broken *audit.Illegal
		if errors.Is(err, audit.ErrUnknown) != want || errors.As(err, &broken) == want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
