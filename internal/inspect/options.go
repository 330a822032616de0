package inspect

import (
	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
)

// Options say what to trust and how to work. The zero Options pin nothing.
type Options struct {
	VKey     string                // verifier key of the ledger; at most one of VKey and Policy is set
	Policy   []byte                // C2SP tlog-policy: log lines pin keys, the quorum asks for cosignatures
	Since    []byte                // an older signed checkpoint, which the ledger must extend; nil: none
	Auditors []*disclosure.Auditor // open tapes that were sealed to them
	At       int64                 // open shuffles are overdue by this time, UTC milliseconds
	Tickets  []TicketList          // lists that shuffles of this ledger are drawn from
	From, To int64                 // the report counts shuffles committed from From until before To; 0: no bound

	Workers  int                      // goroutines that read and recompute; 0: one for each core
	Shuffles string                   // file to write, with a line of JSON for each counted shuffle of Keep; "": none
	Keep     func(*ShuffleLine) bool  // nil: all
	Progress func(done, total uint64) // entries; called by the goroutine of Run, for each chunk; nil: not called

	// Recomputed is called by the goroutine of Run, in the order of the closes, for each
	// closed shuffle that the figures are about and whose tape led to its deck root. nil: not called.
	Recomputed func(Recomputed)

	side *side // of the audit of a pair; nil: the ledger is judged alone
}

// Recomputed is a shuffle whose tape led to its deck root.
type Recomputed struct {
	audit.Statement // what an auditor may sign if the ledger holds (docs/SPEC.md section 8.1)
	Context         *audit.Context
	Values          []uint32   // that the tape gave, by position; of a child, places in its list of positions
	Mix             *audit.Mix // nil: none
}
