package audit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"

	"github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Checkpoint is the head of a ledger: C2SP tlog-checkpoint, without extension lines (docs/SPEC.md section 7.1).
type Checkpoint struct {
	Origin string
	Size   uint64
	Root   tlog.Hash
}

// Text returns the text that is signed.
func (c Checkpoint) Text() string {
	return string(log.Checkpoint{Origin: c.Origin, Size: c.Size, Hash: c.Root[:]}.Marshal())
}

// ParseCheckpoint reads a checkpoint's text. There is one text for each
// checkpoint: leading zeros and extension lines are refused.
func ParseCheckpoint(text string) (Checkpoint, error) {
	var l log.Checkpoint
	rest, err := l.Unmarshal([]byte(text))
	if err != nil || len(rest) != 0 || len(l.Hash) != tlog.HashSize || l.Size > MaxInteger {
		return Checkpoint{}, fmt.Errorf("%w checkpoint", ErrMalformed)
	}
	c := Checkpoint{Origin: l.Origin, Size: l.Size, Root: tlog.Hash(l.Hash)}
	if c.Text() != text {
		return Checkpoint{}, fmt.Errorf("%w checkpoint: not in its one form", ErrMalformed)
	}
	return c, nil
}

// Signing errors.
var (
	ErrSignature = errors.New("the checkpoint is not signed by the ledger's key")
	ErrInclusion = errors.New("the proof does not lead from the entry to the checkpoint's root")
)

// OpenCheckpoint checks the signature of one of keys on a signed checkpoint, that its origin is the key's name, and
// that the first signature is of that name (docs/SPEC.md section 7.1). If there are keys of Ed25519 and of ML-DSA-44
// among them, it wants one signature of each. It returns ErrMalformed or ErrSignature.
func OpenCheckpoint(signed []byte, keys ...note.Verifier) (Checkpoint, error) {
	c, err := CheckpointText(signed)
	if err != nil {
		return Checkpoint{}, err
	}
	why := map[bool]error{} // by whether the key is of ML-DSA-44; nil: one signed
	for _, key := range keys {
		if key.Name() != c.Origin {
			continue
		}
		kind := IsMLDSA(key)
		if before, asked := why[kind]; asked && before == nil {
			continue
		}
		// One key at a time: a bad signature by one takes nothing from another's.
		_, why[kind] = note.Open(signed, note.VerifierList(key))
	}
	if len(why) == 0 {
		return Checkpoint{}, fmt.Errorf("%w: no key of %s was given", ErrSignature, c.Origin)
	}
	for _, kind := range []bool{false, true} {
		if why[kind] != nil {
			return Checkpoint{}, fmt.Errorf("%w: %w", ErrSignature, why[kind])
		}
	}
	return c, nil
}

// OpenByAny is OpenCheckpoint with any one of keys. Some of them may be older or newer than the checkpoint.
func OpenByAny(signed []byte, keys ...note.Verifier) (c Checkpoint, err error) {
	err = fmt.Errorf("%w: no key was given", ErrSignature)
	for _, key := range keys {
		if c, err = OpenCheckpoint(signed, key); err == nil {
			return c, nil
		}
	}
	return Checkpoint{}, err
}

// CheckpointText returns a signed checkpoint in its one form (docs/SPEC.md section 7.1) without a check of its
// signatures, for readers that hold no key yet. It returns ErrMalformed.
func CheckpointText(signed []byte) (Checkpoint, error) {
	text, _, err := SplitNote("checkpoint", signed, MaxCheckpoint)
	if err != nil {
		return Checkpoint{}, err
	}
	c, err := ParseCheckpoint(text)
	if err != nil {
		return Checkpoint{}, err
	}
	// The note's first line after the text and a blank line.
	if !bytes.HasPrefix(signed[len(text)+1:], []byte("— "+c.Origin+" ")) {
		return Checkpoint{}, fmt.Errorf("%w checkpoint: the first signature is not the ledger's", ErrMalformed)
	}
	return c, nil
}

// SplitNote returns the text of a signed note and its signature lines, once its size and their number are within their
// limits: no signature is checked before. what names the note in errors.
func SplitNote(what string, signed []byte, most int) (text string, lines []note.Signature, err error) {
	if len(signed) > most {
		return "", nil, fmt.Errorf("%w %s: more than %d bytes", ErrMalformed, what, most)
	}
	i := bytes.LastIndex(signed, []byte("\n\n"))
	if i < 0 {
		return "", nil, fmt.Errorf("%w %s: no signed note", ErrMalformed, what)
	}
	if n := bytes.Count(signed[i+2:], []byte("\n")); n > MaxSignatures {
		return "", nil, fmt.Errorf("%w %s: %d signature lines, at most %d", ErrMalformed, what, n, MaxSignatures)
	}
	if lines, err = oneForm(signed); err != nil {
		return "", nil, fmt.Errorf("%w %s: %w", ErrMalformed, what, err)
	}
	return string(signed[:i+1]), lines, nil
}

// oneForm holds the signature lines of a note to one form (docs/SPEC.md section 7.1), and returns them: the parser of
// signed notes takes stray bits of base64 and drops lines that stand twice.
func oneForm(signed []byte) ([]note.Signature, error) {
	var unverified *note.UnverifiedNoteError
	if _, err := note.Open(signed, note.VerifierList()); !errors.As(err, &unverified) {
		return nil, err
	}
	lines := 0
	keys := make(map[Signer]bool, len(unverified.Note.UnverifiedSigs))
	for _, s := range unverified.Note.UnverifiedSigs {
		by := Signer{s.Name, s.Hash}
		if keys[by] {
			return nil, errors.New("two signatures of one key")
		}
		keys[by] = true
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return nil, errors.New("a signature in another spelling of base64")
		}
		lines += len("—  \n") + len(s.Name) + len(s.Base64)
	}
	if len(unverified.Note.Text)+1+lines != len(signed) {
		return nil, errors.New("a signature stands twice")
	}
	return unverified.Note.UnverifiedSigs, nil
}

// Signer is what a signature line says of its signer: a name and the first four bytes of the key's id.
type Signer struct {
	Name string
	ID   uint32
}

// Receipt proves one entry: C2SP tlog-proof with the entry's bytes in the extra line (docs/SPEC.md section 7.2).
type Receipt struct {
	Index      uint64
	Entry      []byte
	Proof      []tlog.Hash
	Checkpoint []byte // signed, perhaps cosigned
}

// otherReceipt is how a tlog-proof of another version begins (docs/SPEC.md section 1.4).
var otherReceipt = regexp.MustCompile(`^c2sp\.org/tlog-proof@v([1-9][0-9]{0,9})\n`)

// maxReceipt bounds the text of a receipt, 132,626 bytes: base64 of the largest
// entry, the longest proof and the longest checkpoint.
const maxReceipt = MaxEntry/3*4 + MaxProof*45 + MaxCheckpoint + 256

// Text returns the receipt as text: what proof.TLogProof marshals to, without its copies (TestReceiptText).
func (r Receipt) Text() string {
	b := make([]byte, 0, 64+base64.StdEncoding.EncodedLen(len(r.Entry))+45*len(r.Proof))
	if r.Entry != nil {
		b = append(base64.StdEncoding.AppendEncode(append(b, "extra "...), r.Entry), '\n')
	}
	b = append(strconv.AppendUint(append(b, "index "...), r.Index, 10), '\n')
	for i := range r.Proof {
		b = append(base64.StdEncoding.AppendEncode(b, r.Proof[i][:]), '\n')
	}
	b = append(b, '\n')
	// Neither conversion copies: the compiler makes the one string of all three.
	return "c2sp.org/tlog-proof@v1\n" + string(b) + string(r.Checkpoint)
}

// ParseReceipt reads a receipt. Limits come before work, and a text that is not
// exactly what Text would give is refused, so that a receipt has one form.
func ParseReceipt(text string) (Receipt, error) {
	if len(text) > maxReceipt {
		return Receipt{}, fmt.Errorf("%w receipt: %d bytes, at most %d", ErrMalformed, len(text), maxReceipt)
	}
	if m := otherReceipt.FindStringSubmatch(text); m != nil && m[1] != "1" {
		return Receipt{}, fmt.Errorf("receipt version %s: %w", m[1], ErrUnknown)
	}
	var p proof.TLogProof
	if err := p.Unmarshal([]byte(text)); err != nil {
		return Receipt{}, fmt.Errorf("%w receipt: %s", ErrMalformed, Short(err.Error()))
	}
	r := Receipt{Index: p.Index, Entry: p.ExtraData, Checkpoint: p.Checkpoint}
	for _, h := range p.Hashes {
		r.Proof = append(r.Proof, h)
	}
	switch {
	case len(p.ExtraData) == 0:
		return Receipt{}, fmt.Errorf("%w receipt: no entry in the extra line", ErrMalformed)
	case len(r.Proof) > MaxProof || r.Index > MaxInteger:
		return Receipt{}, fmt.Errorf("%w receipt: too long a proof or too large an index", ErrMalformed)
	case len(r.Entry) > MaxEntry || len(r.Checkpoint) > MaxCheckpoint:
		return Receipt{}, fmt.Errorf("%w receipt: an entry of %d or a checkpoint of %d bytes, at most %d and %d",
			ErrMalformed, len(r.Entry), len(r.Checkpoint), MaxEntry, MaxCheckpoint)
	case r.Text() != text:
		return Receipt{}, fmt.Errorf("%w receipt: not in its one form", ErrMalformed)
	}
	return r, nil
}

// CheckInclusion returns nil if the entry stands at the receipt's index under the root of c, the
// receipt's own checkpoint, and an ErrInclusion otherwise.
func (r Receipt) CheckInclusion(c Checkpoint) error {
	if r.Index >= c.Size {
		return fmt.Errorf("%w: index %d, size %d", ErrInclusion, r.Index, c.Size)
	}
	if tlog.CheckRecord(r.Proof, int64(c.Size), c.Root, int64(r.Index), tlog.RecordHash(r.Entry)) != nil {
		return ErrInclusion
	}
	return nil
}

// Last proves that a larger tree begins with a tree (docs/SPEC.md section 7.2).
type Last struct {
	Leaf  tlog.Hash        `json:"leaf"`  // of the last entry
	Proof tlog.RecordProof `json:"proof"` // of that entry in the larger tree
}

// Last is what the receipt proves if its entry is the last of a tree.
func (r Receipt) Last() Last { return Last{tlog.RecordHash(r.Entry), r.Proof} }

// CheckPrefix returns nil if the tree of c begins with that of first (docs/SPEC.md section 7.2), and an ErrInclusion
// otherwise. by is of the last entry of first, in the tree of c.
func (c Checkpoint) CheckPrefix(first Checkpoint, by Last) error {
	if first.Size < 1 || first.Size > c.Size {
		return fmt.Errorf("%w: %d entries, where the larger tree has %d", ErrInclusion, first.Size, c.Size)
	}
	last := first.Size - 1
	if tlog.CheckRecord(by.Proof, int64(c.Size), c.Root, int64(last), by.Leaf) != nil {
		return ErrInclusion
	}
	forks := bits.Len64(last ^ (c.Size - 1)) // from this level up the entry lies on the right edge
	var left tlog.RecordProof
	for level, h := range by.Proof {
		if level >= forks || last>>level&1 == 1 {
			left = append(left, h)
		}
	}
	if tlog.CheckRecord(left, int64(first.Size), first.Root, int64(last), by.Leaf) != nil {
		return fmt.Errorf("%w: the larger tree begins with other %d entries", ErrInclusion, first.Size)
	}
	return nil
}

// Handover is the entry of a signing key, which the key before it handed on to.
type Handover struct {
	Receipt    string `json:"receipt"`    // of the entry, without a checkpoint, as in Receipts
	Checkpoint string `json:"checkpoint"` // of which the entry is the last, signed by the keys before and after it
}
