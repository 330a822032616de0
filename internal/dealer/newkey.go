package dealer

import (
	"strconv"
	"time"
)

// takenForNew reports that a key needs no look-up before its tape is drawn, because
// it is younger than what the ledger remembers (see [ledger.Ledger.NewKey]).
func (d *Dealer) takenForNew(key string, tag [32]byte) bool {
	made, ok := madeAt(key)
	return ok && d.cfg.Ledger.NewKey(tag, made)
}

// madeAt returns when a key says that it was made: a UUID of version 7 begins with
// its Unix time in milliseconds (RFC 9562 section 5.7). Other keys say nothing.
func madeAt(key string) (time.Time, bool) {
	const form = "xxxxxxxx-xxxx-7xxx-xxxx-xxxxxxxxxxxx"
	if len(key) != len(form) || key[8] != '-' || key[13] != '-' || key[14] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseUint(key[:8]+key[9:13], 16, 48)
	return time.UnixMilli(int64(ms)), err == nil
}
