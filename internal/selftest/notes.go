package selftest

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// Checkpoints, receipts, cosignatures, transcripts: docs/SPEC.md sections 7 and 8.
var notes = []test{
	{"signed-note", "how a checkpoint is signed", "SPEC 7.1", "C2SP signed-note, its example", noteTest},
	{"weak-key", "keys under which a signature proves nothing", "SPEC 10.1", "RFC 8032, points of small order", weakKeyTest},
	{"checkpoint", "the head of a ledger", "SPEC 7.1", "internal/audit/testdata/receipts.json", checkpointTest},
	{"receipt", "proof of an entry", "SPEC 7.2", "internal/audit/testdata/receipts.json", receiptTest},
	{"cosignature", "what a witness says", "SPEC 7.3", "internal/audit/testdata/receipts.json", cosignatureTest},
	{"transcript", "the one form of a transcript", "SPEC 8", "internal/audit/testdata/transcripts.json", transcriptTest},
}

// noteTest signs with the example's key, as a ledger does with its own. The
// algorithm has one signature for a text.
func noteTest(a *answers, _ *vectors) {
	const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
	signer, err := note.NewSigner("PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")
	if err != nil {
		a.is("the signer", "", err, "PeterNeumann")
		return
	}
	const signed = text + "\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
	got, err := note.Sign(&note.Note{Text: text}, signer)
	a.is("sign", string(got), err, signed)
	verifier, err := note.NewVerifier("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
	if err != nil {
		a.is("the verifier", "", err, "PeterNeumann")
		return
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if opened == nil {
		opened = new(note.Note)
	}
	a.is("open", opened.Text, err, text)
}

func weakKeyTest(a *answers, _ *vectors) {
	for _, c := range []struct{ name, key string }{
		{"the neutral element", "0100000000000000000000000000000000000000000000000000000000000000"},
		{"the point of order 2", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
		{"a point of order 4", "0000000000000000000000000000000000000000000000000000000000000000"},
		{"a point of order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"},
		{"the neutral element with y = p + 1", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
	} {
		a.refused(c.name, audit.CheckEd25519(unhex(c.key)), audit.ErrWeakKey)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	a.is("a good one", "accepted", audit.CheckEd25519(key), "accepted")
}

// step maps what a reader of a receipt finds to the steps of docs/SPEC.md
// section 10.1.
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

func checkpointTest(a *answers, v *vectors) {
	key, err := audit.ParseVKey(v.VKey)
	if err != nil {
		a.is("the key", "", err, v.VKey)
		return
	}
	for _, c := range v.Checkpoints {
		head, err := audit.OpenCheckpoint([]byte(c.Signed), key)
		a.is(c.Name, step(err), nil, c.Step)
		if c.Step == "proved" {
			a.is(c.Name+", its content", fmt.Sprintf("%s %d %x", head.Origin, head.Size, head.Root[:]), nil, fmt.Sprintf("%s %d %s", c.Origin, c.Size, c.Root))
			a.is(c.Name+", its text", head.Text(), nil, c.Signed[:strings.Index(c.Signed, "\n\n")+1])
		}
	}
}

func receiptTest(a *answers, v *vectors) {
	for _, c := range v.Receipts {
		vkey := v.VKey
		if c.VKey != "" {
			vkey = c.VKey
		}
		key, err := audit.ParseVKey(vkey)
		if err != nil {
			a.is(c.Name+": the key", "", err, vkey)
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
		a.is(c.Name, step(err), nil, c.Step)
		if c.Step == "proved" {
			a.is(c.Name+", its content", fmt.Sprintf("%d %d %x", r.Index, head.Size, r.Entry), nil, fmt.Sprintf("%d %d %s", c.Index, c.Size, c.Entry))
			a.is(c.Name+", its text", r.Text(), nil, c.Text)
		}
	}
}

// cosignatureTest takes the policy from a genesis and the cosignatures from a
// receipt's checkpoint.
func cosignatureTest(a *answers, v *vectors) {
	var policy *audit.Policy
	for _, c := range v.Entries {
		if e, err := audit.ParseEntry(unhex(c.Bytes)); err == nil {
			if g, ok := e.Body.(*audit.Genesis); ok && len(g.Policy) > 0 {
				p, err := audit.ParsePolicy(g.Policy)
				a.is("the policy", "read", err, "read")
				policy = p
			}
		}
	}
	r, err := audit.ParseReceipt(v.Receipts[0].Text)
	if err != nil || policy == nil {
		a.is("the checkpoint", "", errors.Join(err, errors.New("or no policy")), "read")
		return
	}
	look := func(signed []byte) (seen string) {
		for _, c := range policy.Cosignatures(signed) {
			seen += fmt.Sprintf("%s %d ", c.Witness, c.Time)
		}
		return seen + fmt.Sprint(policy.Satisfied(signed))
	}
	a.is("both witnesses", look(r.Checkpoint), nil, "w1 1790000000 w2 1790000001 true")
	complete, _ := policy.CompleteAt(r.Checkpoint)
	a.values("the second at which the quorum was complete", complete, nil, int64(1790000000))
	a.is("another text", look(bytes.Replace(r.Checkpoint, []byte("\n11\n"), []byte("\n12\n"), 1)), nil, "false")
	a.is("another time of the first", look(bytes.Replace(r.Checkpoint, []byte("AAAABqsTuA"), []byte("AAAABqsTuB"), 1)), nil, "w2 1790000001 true")
}

func transcriptTest(a *answers, v *vectors) {
	for _, c := range v.Transcripts {
		t, err := audit.ParseTranscript([]byte(c.Text))
		if err != nil {
			a.is(c.Name, "", err, c.Text)
			continue
		}
		b, err := t.Marshal()
		a.is(c.Name, string(b), err, c.Text)
		_, err = audit.ParseTranscript([]byte(" " + c.Text))
		a.refused(c.Name+", a space in front", err, audit.ErrMalformed)
	}
}
