package audit

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/known"
)

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
		a.Refused(c.name, CheckEd25519(known.Unhex(c.key)), ErrWeakKey)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	a.Is("a good one", "accepted", CheckEd25519(key), "accepted")
}

// step maps what a reader of a receipt finds to the steps of docs/SPEC.md section 10.1.
func step(err error) string {
	switch {
	case err == nil:
		return "proved"
	case errors.Is(err, ErrMalformed):
		return "format"
	case errors.Is(err, ErrSignature):
		return "signature"
	case errors.Is(err, ErrInclusion):
		return "inclusion"
	}
	return "error: " + err.Error()
}

func checkpointTest(a *known.Answers, v *vectors) {
	key, err := ParseVKey(v.VKey)
	if err != nil {
		a.Is("the key", "", err, v.VKey)
		return
	}
	for _, c := range v.Checkpoints {
		head, err := OpenCheckpoint([]byte(c.Signed), key)
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
		key, err := ParseVKey(vkey)
		if err != nil {
			a.Is(c.Name+": the key", "", err, vkey)
			continue
		}
		r, err := ParseReceipt(c.Text)
		var head Checkpoint
		if err == nil {
			head, err = OpenCheckpoint(r.Checkpoint, key)
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
	var policy *Policy
	for _, c := range v.Entries {
		if e, err := ParseEntry(c.Bytes); err == nil {
			if g, ok := e.Body.(*Genesis); ok && len(g.Policy) > 0 {
				p, err := ParsePolicy(g.Policy)
				a.Is("the policy", "read", err, "read")
				policy = p
			}
		}
	}
	r, err := ParseReceipt(v.Receipts[0].Text)
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
		t, err := ParseTranscript([]byte(c.Text))
		if err != nil {
			a.Is(c.Name, "", err, c.Text)
			continue
		}
		b, err := t.Marshal()
		a.Is(c.Name, string(b), err, c.Text)
		_, err = ParseTranscript([]byte(" " + c.Text))
		a.Refused(c.Name+", a space in front", err, ErrMalformed)
	}
}
