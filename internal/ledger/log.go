package ledger

import "shuffled/internal/audit"

// logAct logs an administrative entry when it is durable: who did what, to what, and with which
// credential. The entry has the rest, such as the reason.
func (l *Ledger) logAct(index uint64, e audit.Entry) {
	var what, of string
	switch b := e.Body.(type) {
	case *audit.Key:
		what, of = "key_"+b.Subject.String(), b.Name
	case *audit.Credential:
		what, of = "credential_"+b.Kind.String(), b.ID
	case *audit.ActEntry:
		what = "act_" + b.Act.String()
	case *audit.Takeover:
		what, of = "takeover_"+b.Extent.String(), l.cfg.Info.Name
	case *audit.Event:
		switch b.Kind {
		case audit.EventTableOpen, audit.EventTableClose, audit.EventKillSet, audit.EventKillClear,
			audit.EventLatchClear, audit.EventHeadAdopted:
			what, of = b.Kind.String(), b.Name
		}
	}
	if what == "" || e.Actor == audit.Daemon { // most often the daemon's disclosure key
		return
	}
	l.cfg.Log.Info("administrative act", "ledger", l.cfg.Info.Name, "entry", index, "act", what, "of", of,
		"identity", e.Actor.Identity, "credential", e.Actor.Credential)
}
