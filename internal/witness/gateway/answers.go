package gateway

import (
	"errors"
	"fmt"
)

// The answers of a witness that its caller distinguishes (C2SP tlog-witness). After any other
// error the witness may be asked again: the answer may have been lost on the way.
var (
	// ErrRefused: the witness will not cosign this checkpoint, however often it is asked. It does not know origin or
	// key, the proof is bad, or it has cosigned another root of this size.
	ErrRefused = errors.New("the witness refuses the checkpoint")

	// ErrContradicts, which is an ErrRefused: the witness has seen another history of the log. The proof from the size
	// that it cosigned does not lead to this checkpoint, or it cosigned another root of this size.
	ErrContradicts = fmt.Errorf("%w: it has seen another history", ErrRefused)

	// ErrNone: the witness shows no checkpoint that it cosigned for an origin, because it has
	// none or does not show any.
	ErrNone = errors.New("the witness tells of no cosigned checkpoint")
)

// Conflict is a witness's answer to a proof that does not begin at the size that it cosigned last. The caller proves
// again from that size. If the size is above the caller's head, another writer was first or the head went backwards.
type Conflict struct {
	Size uint64 // of the newest checkpoint that the witness cosigned, 0 if none
}

func (e *Conflict) Error() string {
	return fmt.Sprintf("the witness cosigned a checkpoint of size %d last", e.Size)
}
