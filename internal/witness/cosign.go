package witness

import (
	"crypto"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// cosigner makes cosignatures of one key.
type cosigner struct {
	name     string
	vkey     string
	key      crypto.Signer
	verifier note.Verifier // of the same key's cosignatures
}

func newCosigner(name string, key crypto.Signer) (*cosigner, error) {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("the key is not Ed25519")
	}
	vkey, err := audit.WitnessVKey(name, public)
	if err != nil {
		return nil, err
	}
	verifier, err := audit.ParseWitnessVKey(vkey)
	if err != nil {
		return nil, err
	}
	return &cosigner{name, vkey, key, verifier}, nil
}

// at returns a note.Signer whose cosignatures say that they were made at a time
// in Unix seconds.
func (c *cosigner) at(unix int64) note.Signer { return cosignerAt{c, unix} }

type cosignerAt struct {
	*cosigner
	unix int64
}

func (c cosignerAt) Name() string    { return c.name }
func (c cosignerAt) KeyHash() uint32 { return c.verifier.KeyHash() }

// Sign returns a timestamped_signature of C2SP tlog-cosignature, Ed25519.
func (c cosignerAt) Sign(text []byte) ([]byte, error) {
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", c.unix, text)
	sig, err := c.key.Sign(nil, message, crypto.Hash(0))
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(c.unix)), sig...), nil
}

// cosigned is a checkpoint with the signatures of its log and of this witness.
type cosigned struct {
	torchwood.Checkpoint
	text string // what is signed
	note []byte // with the log's signatures, then the witness's
	line []byte // the witness's signature line
	time int64  // of the cosignature, Unix seconds
}

// cosign signs a checkpoint that was found good, and checks its own signature:
// a faulty signer is not believed. sigs are the log's.
func (c *cosigner) cosign(cp torchwood.Checkpoint, sigs []note.Signature, unix int64) (*cosigned, error) {
	n := &note.Note{Text: cp.String(), Sigs: sigs}
	signed, err := note.Sign(n, c.at(unix))
	if err != nil {
		return nil, fmt.Errorf("cosigning: %w", err)
	}
	return c.open(signed)
}

// open reads a note that this witness cosigned.
func (c *cosigner) open(signed []byte) (*cosigned, error) {
	n, err := note.Open(signed, note.VerifierList(c.verifier))
	if err != nil {
		return nil, err
	}
	cp, err := parseCheckpoint(n.Text)
	if err != nil {
		return nil, err
	}
	unix, err := torchwood.CosignatureTimestamp(n.Sigs[0])
	if err != nil {
		return nil, err
	}
	return &cosigned{Checkpoint: cp, text: n.Text, note: signed, line: signatureLines(n.Sigs), time: unix}, nil
}

// parseCheckpoint reads the text of a checkpoint, which may have extension
// lines: foreign logs use them. There is one text for each checkpoint.
func parseCheckpoint(text string) (torchwood.Checkpoint, error) {
	cp, err := torchwood.ParseCheckpoint(text)
	if err != nil {
		return cp, err
	}
	if cp.N > audit.MaxInteger || cp.String() != text {
		return cp, errors.New("malformed checkpoint: not in its one form")
	}
	return cp, nil
}

// signatureLines returns the lines of signatures as they stand in a note.
func signatureLines(sigs []note.Signature) []byte {
	var b strings.Builder
	for _, s := range sigs {
		fmt.Fprintf(&b, "— %s %s\n", s.Name, s.Base64)
	}
	return []byte(b.String())
}
