package audit

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// What a witness answers that its caller acts on (C2SP tlog-witness). Any other
// error of a witness is transport: it may be asked again.
var (
	// ErrWitnessRefused is matched when a witness will not cosign this checkpoint,
	// however often it is asked: unknown origin or key, a bad proof, or another
	// root at a size that it has cosigned.
	ErrWitnessRefused = errors.New("the witness refuses the checkpoint")

	// ErrWitnessContradicts is matched, alongside ErrWitnessRefused, when the refusal
	// means that the witness has seen another history of the log: the proof from
	// the size it cosigned does not lead to this checkpoint, or it cosigned another
	// root at this size.
	ErrWitnessContradicts = fmt.Errorf("%w: it has seen another history", ErrWitnessRefused)

	// ErrWitnessNone is matched when a witness tells of no checkpoint that it
	// cosigned for an origin: it has none, or it does not tell.
	ErrWitnessNone = errors.New("the witness tells of no cosigned checkpoint")
)

// WitnessConflict is a witness's answer to a proof that does not begin at the
// size it cosigned last. The caller proves again from that size; a size above
// the caller's own head means that the head went backwards.
type WitnessConflict struct {
	Size uint64 // of the newest checkpoint that the witness cosigned, 0 if none
}

func (e *WitnessConflict) Error() string {
	return fmt.Sprintf("the witness cosigned a checkpoint of size %d last", e.Size)
}

// WitnessVKey returns the verifier key text of a witness's Ed25519 public key,
// with the signature type of cosignatures (C2SP tlog-cosignature).
func WitnessVKey(name string, public ed25519.PublicKey) (string, error) {
	vkey, err := note.NewEd25519VerifierKey(name, public)
	if err != nil {
		return "", fmt.Errorf("%w witness key: %w", ErrMalformed, err)
	}
	return fnote.VKeyToCosignatureV1(vkey)
}
