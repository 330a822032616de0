package answers

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/known"
	"shuffled/internal/shuffle"
)

// Commitments, salts, openings, names, mixes and rules: docs/SPEC.md sections 1.5, 4 to 6, 9 and 11.

func mixValues(values []valueVector) (out []audit.MixValue) {
	for _, v := range values {
		value := audit.MixValue{Source: audit.Source(v.Source), Cut: uint16(v.Cut)}
		switch value.Source {
		case audit.SourceSlot:
			copy(value.Slot[:], v.Value)
		case audit.SourceBeacon:
			copy(value.Beacon[:], v.Value)
		}
		out = append(out, value)
	}
	return out
}

func childrenTest(a *known.Answers, v *vectors) {
	for _, c := range v.Children {
		values, err := openings.ChildValues(c.Parent, c.Positions, c.Indexes)
		a.Values(c.Name, values, err, c.Values)
	}
}

func slotsTest(a *known.Answers, v *vectors) {
	for _, c := range v.Slots {
		h := audit.SlotHash(c.Origin, c.Table, [32]byte(c.R))
		a.Bytes(c.Name, h[:], nil, c.Hash.String())
	}
}

func seedsTest(a *known.Answers, v *vectors) {
	for _, c := range v.Seeds {
		seed := openings.MixSeed(tlog.RecordHash(c.Commit), mixValues(c.Values))
		a.Bytes(c.Name, seed[:], nil, c.Seed.String())
	}
}

func commitmentTest(a *known.Answers, v *vectors) {
	for _, c := range v.Shuffles {
		h := openings.Commitment(c.Context, c.Tape)
		a.Bytes(c.Name, h[:], nil, c.Commitment.String())
	}
}

func saltsTest(a *known.Answers, v *vectors) {
	for _, c := range v.Salts {
		want := known.Bytes(slices.Concat(c.Salts...))
		a.Bytes(c.Name, openings.Salts([32]byte(c.Commitment), c.Tape, len(c.Salts)), nil, want.String())
	}
}

// deckRootTest computes each root as a commit does, and as the tree that gives openings.
func deckRootTest(a *known.Answers, v *vectors) {
	for _, c := range v.Shuffles {
		commitment, tape := [32]byte(c.Commitment), c.Tape
		root := openings.DeckRoot(commitment, c.Context, tape, c.Values)
		a.Bytes(c.Name+", to commit", root[:], nil, c.DeckRoot.String())
		root = openings.NewDeckTree(openings.Tag(c.Tag), c.Values, openings.Salts(commitment, tape, len(c.Values))).Root()
		a.Bytes(c.Name+", to open", root[:], nil, c.DeckRoot.String())
	}
}

func openingTest(a *known.Answers, v *vectors) {
	for _, c := range v.Openings {
		o := openings.Opening{Position: c.Position, Value: c.Value, Salt: [32]byte(c.Salt)}
		for _, h := range c.Path {
			o.Proof = append(o.Proof, tlog.Hash(h))
		}
		err := o.Check(openings.Tag(c.Tag), [32]byte(c.DeckRoot), c.M)
		if c.Opens {
			a.Is(c.Name, "opens", err, "opens")
		} else {
			a.Refused(c.Name, err, openings.ErrOpening)
		}
	}
	// And one that is made here, as a deal makes it.
	for _, c := range v.Shuffles {
		p := len(c.Values) - 1
		o := openings.NewDeckTree(openings.Tag(c.Tag), c.Values, openings.Salts([32]byte(c.Commitment), c.Tape, len(c.Values))).Open(p)
		a.Values("made: "+c.Name, o.Value, o.Check(openings.Tag(c.Tag), [32]byte(c.DeckRoot), len(c.Values)),
			c.Values[p])
	}
}

func contextTest(a *known.Answers, v *vectors) {
	for _, c := range v.Shuffles {
		context, err := audit.ParseContext(c.Context)
		if err != nil {
			a.Is(c.Name, "", err, "a context")
			continue
		}
		a.Bytes(c.Name+", parsed and encoded", context.Encode(), nil, c.Context.String())
		out, err := context.Recipe.Run(c.Tape)
		a.Values(c.Name+", run", out, err, shuffle.Outcome{Values: c.Values, EndAt: int(c.EndAt)})
	}
}

func keyTagTest(a *known.Answers, v *vectors) {
	for _, c := range v.KeyTags {
		tag := audit.KeyTag(c.Origin, c.Identity, c.Table, c.Key)
		a.Bytes(c.Name, tag[:], nil, c.Tag.String())
	}
}

func keyIDTest(a *known.Answers, v *vectors) {
	for _, c := range v.KeyIDs {
		id := audit.KeyID(c.Key)
		a.Bytes(c.Name, id[:], nil, c.ID.String())
	}
}

func referenceTest(a *known.Answers, v *vectors) {
	for _, c := range v.References {
		name, err := audit.Reference(c.Salt, c.Value)
		a.Is(c.Name, name, err, c.Reference)
	}
}

// legalityTest folds whole ledgers entry by entry, each of which must be legal.
func legalityTest(a *known.Answers, v *vectors) {
	for _, c := range v.Ledgers {
		s := rules.NewState()
		for i, b := range c.Entries {
			e, err := audit.ParseEntry(b)
			if err == nil {
				err = s.Apply(e)
			}
			what := "legal"
			if err != nil {
				what = ""
			}
			a.Is(fmt.Sprintf("%s: entry %d", c.Name, i), what, err, "legal")
		}
		var broken *audit.Illegal
		if e, err := audit.ParseEntry(c.Entries[0]); err == nil && errors.As(s.Apply(e), &broken) {
			a.Is(c.Name+": a second genesis", broken.Code, nil, audit.RuleGenesisFirst)
		} else {
			a.Is(c.Name+": a second genesis", "", errors.Join(err, errors.New("it is legal")), audit.RuleGenesisFirst)
		}
	}
}

// Checkpoints, receipts, cosignatures, transcripts: docs/SPEC.md sections 7 and 8.

// noteTest signs with the example's key, as a ledger does with its own. The algorithm has one signature for a text.
func noteTest(a *known.Answers, _ *vectors) {
	const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
	signer, err := note.NewSigner("PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")
	if err != nil {
		a.Is("the signer", "", err, "PeterNeumann")
		return
	}
	const signed = text + "\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
	got, err := note.Sign(&note.Note{Text: text}, signer)
	a.Is("sign", string(got), err, signed)
	verifier, err := note.NewVerifier("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
	if err != nil {
		a.Is("the verifier", "", err, "PeterNeumann")
		return
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if opened == nil {
		opened = new(note.Note)
	}
	a.Is("open", opened.Text, err, text)
}

func weakKeyTest(a *known.Answers, _ *vectors) {
	for _, c := range []struct{ name, key string }{
		{"the neutral element", "0100000000000000000000000000000000000000000000000000000000000000"},
		{"the point of order 2", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
		{"a point of order 4", "0000000000000000000000000000000000000000000000000000000000000000"},
		{"a point of order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"},
		{"the neutral element with y = p + 1", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
	} {
		a.Refused(c.name, audit.CheckEd25519(known.Unhex(c.key)), audit.ErrWeakKey)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	a.Is("a good one", "accepted", audit.CheckEd25519(key), "accepted")
}

// step maps what a reader of a receipt finds to the steps of docs/SPEC.md section 10.1.
func step(err error) string {
	switch {
	case err == nil:
		return "proved"
	case errors.Is(err, audit.ErrMalformed):
		return "format"
	case errors.Is(err, audit.ErrSignature):
		return "signature"
	case errors.Is(err, audit.ErrInclusion):
		return "inclusion"
	}
	return "error: " + err.Error()
}

func checkpointTest(a *known.Answers, v *vectors) {
	key, err := audit.ParseVKey(v.VKey)
	if err != nil {
		a.Is("the key", "", err, v.VKey)
		return
	}
	for _, c := range v.Checkpoints {
		head, err := audit.OpenCheckpoint([]byte(c.Signed), key)
		a.Is(c.Name, step(err), nil, c.Step)
		if c.Step == "proved" {
			a.Is(c.Name+", its content", fmt.Sprintf("%s %d %x", head.Origin, head.Size, head.Root[:]), nil,
				fmt.Sprintf("%s %d %s", c.Origin, c.Size, c.Root))
			a.Is(c.Name+", its text", head.Text(), nil, c.Signed[:strings.Index(c.Signed, "\n\n")+1])
		}
	}
}

func receiptTest(a *known.Answers, v *vectors) {
	for _, c := range v.Receipts {
		vkey := v.VKey
		if c.VKey != "" {
			vkey = c.VKey
		}
		key, err := audit.ParseVKey(vkey)
		if err != nil {
			a.Is(c.Name+": the key", "", err, vkey)
			continue
		}
		r, err := audit.ParseReceipt(c.Text)
		var head audit.Checkpoint
		if err == nil {
			head, err = audit.OpenCheckpoint(r.Checkpoint, key)
		}
		if err == nil {
			err = r.CheckInclusion(head)
		}
		a.Is(c.Name, step(err), nil, c.Step)
		if c.Step == "proved" {
			a.Is(c.Name+", its content", fmt.Sprintf("%d %d %x", r.Index, head.Size, r.Entry), nil,
				fmt.Sprintf("%d %d %s", c.Index, c.Size, c.Entry))
			a.Is(c.Name+", its text", r.Text(), nil, c.Text)
		}
	}
}

// cosignatureTest takes the policy from a genesis and the cosignatures from a receipt's checkpoint.
func cosignatureTest(a *known.Answers, v *vectors) {
	var policy *trust.Policy
	for _, c := range v.Entries {
		if e, err := audit.ParseEntry(c.Bytes); err == nil {
			if g, ok := e.Body.(*audit.Genesis); ok && len(g.Policy) > 0 {
				p, err := trust.ParsePolicy(g.Policy)
				a.Is("the policy", "read", err, "read")
				policy = p
			}
		}
	}
	r, err := audit.ParseReceipt(v.Receipts[0].Text)
	if err != nil || policy == nil {
		a.Is("the checkpoint", "", errors.Join(err, errors.New("or no policy")), "read")
		return
	}
	look := func(signed []byte) (seen string) {
		for _, c := range policy.Cosignatures(signed) {
			seen += fmt.Sprintf("%s %d ", c.Witness, c.Time)
		}
		return seen + fmt.Sprint(policy.Satisfied(signed))
	}
	a.Is("both witnesses", look(r.Checkpoint), nil, "w1 1790000000 w2 1790000001 true")
	complete, _ := policy.CompleteAt(r.Checkpoint)
	a.Values("the second at which the quorum was complete", complete, nil, int64(1790000000))
	a.Is("another text", look(bytes.Replace(r.Checkpoint, []byte("\n11\n"), []byte("\n12\n"), 1)), nil, "false")
	a.Is("another time of the first", look(bytes.Replace(r.Checkpoint, []byte("AAAABqsTuA"), []byte("AAAABqsTuB"), 1)),
		nil, "w2 1790000001 true")
}

func transcriptTest(a *known.Answers, v *vectors) {
	for _, c := range v.Transcripts {
		t, err := openings.ParseTranscript([]byte(c.Text))
		if err != nil {
			a.Is(c.Name, "", err, c.Text)
			continue
		}
		b, err := t.Marshal()
		a.Is(c.Name, string(b), err, c.Text)
		_, err = openings.ParseTranscript([]byte(" " + c.Text))
		a.Refused(c.Name+", a space in front", err, audit.ErrMalformed)
	}
}
