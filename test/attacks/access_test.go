package attacks

import (
	"database/sql"
	"strings"
	"testing"
)

// TestCutAccessRecords: the owner of the database deletes the newest record of the
// requests of an administrator and a regulator. The daemon writes the head of the records
// into the ledger when it stops, so audit fsck finds the deletion.
func TestCutAccessRecords(t *testing.T) {
	attack(t)
	bothStores(t, terms{}, func(t *testing.T, h *house) {
		hand := h.hand("k1", "t1")
		for range 3 {
			h.ok(h.get(hand, h.regulator))
		}
		h.ok(h.get("/v1/main/access", h.admin))
		h.daemon.stop()
		db := h.database()
		if n := row(t, db, "SELECT count(*) AS n FROM access_records")["n"]; n != int64(4) {
			t.Errorf("%v records of a regulator's three requests and an administrator's one", n)
		}
		h.must("audit", "fsck", "--config", h.path("shuffled.toml"))
		if h.super != "" {
			var err error
			db, err = sql.Open("pgx", h.super)
			h.check(err)
			defer db.Close()
		}
		_, err := db.Exec("DELETE FROM access_records WHERE seq = 4")
		h.check(err)
		h.fsckNames("the newest record is gone", "access_chain")
		h.serve() // the daemon continues, and vouches for the records that are left
		h.ok(h.get(hand, h.regulator))
		h.daemon.stop()
		h.fsckNames("another record stands in its place", "access_chain")
		code, out := h.run("audit", "fsck", "--config", h.path("shuffled.toml"))
		if code != 1 || !strings.Contains(out, "access_records[seq=4]") {
			t.Errorf("audit fsck ends with %d and does not name the record:\n%s", code, out)
		}
	})
}
