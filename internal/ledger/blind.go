package ledger

import (
	"context"

	"shuffled/internal/audit"
)

// CoDealer returns the newest key entry that names the ledger of this origin as co-dealer. With the origin "" it
// returns the newest entry of that subject, which may name none. ok is false if there is no such entry.
func (l *Ledger) CoDealer(origin string) (pin audit.KeyRecord, ok bool) {
	all := l.KeyHistory().Records
	for i := len(all) - 1; i >= 0; i-- {
		if r := all[i]; r.Subject == audit.SubjectCoDealer && (origin == "" || r.Origin == origin) {
			return r, true
		}
	}
	return pin, false
}

// MayAsk returns the first rule that a deal by the actor would break now, whatever its co-dealer
// gives for it. If memory says that it would break one, the store is asked for newer entries.
func (l *Ledger) MayAsk(ctx context.Context, actor audit.Actor, d *audit.Deal) (err error) {
	look := func() (refused error) {
		err = l.ask(ctx, func() {
			now, _ := l.cfg.Clock()
			refused = l.state.MayAsk(d, audit.Entry{Time: max(now.UnixMilli(), l.state.Time()), Actor: actor, Body: d})
		})
		return refused
	}
	refused := look()
	if err != nil || refused == nil {
		return err
	}
	if err := l.Refresh(ctx); err != nil { // another daemon may have written what allows it
		return err
	}
	refused = look()
	if err != nil {
		return err
	}
	return refused
}
