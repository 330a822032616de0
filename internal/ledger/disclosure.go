package ledger

import "context"

// Disclosure is what a ledger's entries say of disclosure to auditors.
type Disclosure struct {
	Size     uint64   // entries that this is the fold of
	Auditors [][]byte // auditor keys in force, type byte first, in order of KeyID

	// The newest disclosure key; 0 and nil when there is none.
	Key    uint64 // index of its entry
	Public []byte // type byte first
	At     int64  // time of its entry, UTC milliseconds
	Usable bool   // it is wrapped to exactly the auditors in force, and not retired
}

// Disclosure returns what the entries known here say of disclosure to auditors.
// Another daemon may have written more.
func (l *Ledger) Disclosure(ctx context.Context) (d Disclosure, err error) {
	err = l.ask(ctx, func() {
		d.Size, d.Auditors = l.state.Size(), l.state.AuditorKeys()
		d.Key, d.Public, d.At, d.Usable = l.state.DisclosureKey()
	})
	return d, err
}
