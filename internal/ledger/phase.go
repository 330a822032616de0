package ledger

import (
	"fmt"
	"slices"
	"sync/atomic"

	"shuffled/internal/audit"
)

// phase is what the sequencer can do now.
type phase int

const (
	phaseStarting phase = iota // nothing is written before the stored ledger was compared with what was seen
	phaseWriting               // entries are written
	phaseWaiting               // for the store, the clock or the signing key's holder
	phaseFrozen                // the stored ledger contradicts what was seen: nothing is signed, reads go on
	phaseClosed                // the sequencer has stopped
)

// follows lists which phase may come after which. A frozen ledger does not write before thaw
// has compared it with everything that was seen.
var follows = map[phase][]phase{
	phaseStarting: {phaseStarting, phaseWriting, phaseFrozen, phaseClosed},
	phaseWriting:  {phaseWriting, phaseWaiting, phaseFrozen, phaseClosed},
	phaseWaiting:  {phaseWaiting, phaseWriting, phaseFrozen, phaseClosed},
	phaseFrozen:   {phaseFrozen, phaseWaiting, phaseClosed},
}

// standing is the phase of the sequencer, with what belongs to it. Only the sequencer's
// goroutine uses it, except that any goroutine may read why. Only to changes phase and why.
type standing struct {
	phase phase
	why   atomic.Pointer[error] // why nothing can be written now; nil in phaseWriting

	seen    *audit.Checkpoint // the high-water mark at the start; nil: there was none
	vouched voucher           // who vouched for the stored head at the start

	// What is to be written as soon as entries can be.
	resumed bool          // that entries are written again, after an append failed or signing stopped
	stepped string        // how far the clock stepped, until it is back
	alarms  []audit.Event // other alarms
}

// voucher is who vouched for the stored head at the start.
type voucher int

const (
	voucherNone           voucher = iota // nobody yet: the mark is not raised, and nothing is signed
	voucherMark                          // the high-water mark
	voucherWitnesses                     // a quorum of witnesses, as there is no mark; the ledger says so
	voucherAdministrators                // administrators by an act, as there is no mark; the ledger says so
)

// to changes the phase. why says why nothing can be written; it is nil for phaseWriting alone.
func (s *standing) to(next phase, why error) {
	if !slices.Contains(follows[s.phase], next) || (why == nil) != (next == phaseWriting) {
		panic(fmt.Sprintf("ledger: from phase %d to %d: %v", s.phase, next, why))
	}
	s.phase = next
	if why == nil {
		s.why.Store(nil)
		return
	}
	s.why.Store(&why)
}
