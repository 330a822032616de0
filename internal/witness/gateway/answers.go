package gateway

import (
	"errors"
	"fmt"
)

// What a witness answers that its caller acts on (C2SP tlog-witness). Any other
// error of a witness is transport: it may be asked again.
var (
	// ErrRefused is matched when a witness will not cosign this checkpoint,
	// however often it is asked: unknown origin or key, a bad proof, or another
	// root at a size that it has cosigned.
	ErrRefused = errors.New("the witness refuses the checkpoint")

	// ErrContradicts is matched, alongside ErrRefused, when the refusal
	// means that the witness has seen another history of the log: the proof from
	// the size it cosigned does not lead to this checkpoint, or it cosigned another
	// root at this size.
	ErrContradicts = fmt.Errorf("%w: it has seen another history", ErrRefused)

	// ErrNone is matched when a witness tells of no checkpoint that it
	// cosigned for an origin: it has none, or it does not tell.
	ErrNone = errors.New("the witness tells of no cosigned checkpoint")
)

// Conflict is a witness's answer to a proof that does not begin at the
// size it cosigned last. The caller proves again from that size; a size above
// the caller's own head means that the head went backwards.
type Conflict struct {
	Size uint64 // of the newest checkpoint that the witness cosigned, 0 if none
}

func (e *Conflict) Error() string {
	return fmt.Sprintf("the witness cosigned a checkpoint of size %d last", e.Size)
}
