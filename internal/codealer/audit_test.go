package codealer_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/bundle"
	"shuffled/internal/dealer/api"
	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	rows "shuffled/internal/store"
	"shuffled/internal/store/sqlite"
)

// export writes the bundle of a ledger, once the witnesses saw all of it.
func (d *daemon) export() *inspect.Bundle {
	d.t.Helper()
	check(d.t, d.ledger.AwaitCosigned(d.t.Context(), d.ledger.Head().Size-1))
	evidence, err := sqlite.OpenEvidence(d.db, sqlite.Options{})
	check(d.t, err)
	defer evidence.Close()
	dir := filepath.Join(d.t.TempDir(), "bundle")
	_, err = bundle.Export(d.t.Context(), rows.Export{Evidence: evidence, ID: ledger.IDOf(d.origin)}, dir,
		bundle.Options{Origin: d.origin})
	check(d.t, err)
	b, err := inspect.OpenBundle(dir)
	check(d.t, err)
	d.t.Cleanup(func() { b.Close() })
	return b
}

// orders waits until the co-dealer closed as many orders.
func (p *pair) orders(closed int) {
	p.t.Helper()
	ctx := within(p.t.(*testing.T), 20*time.Second)
	for {
		moved := p.lab.ledger.Changed()
		all, err := p.lab.ledger.Entries(ctx, 0, p.lab.ledger.Head().Size)
		check(p.t, err)
		n := 0
		for _, e := range all {
			if _, ok := e.Entry.Body.(*audit.Close); ok {
				n++
			}
		}
		if n >= closed {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			p.t.Fatalf("%d orders are closed, want %d", n, closed)
		}
	}
}

// TestReceiptsKept: a co-dealer keeps what the house signed of each entry that a deal or the close of an order comes
// behind: its ledger has only their hashes.
func TestReceiptsKept(t *testing.T) {
	for name, disclosure := range map[string]audit.Disclosure{"public": audit.DisclosurePublic,
		"auditors": audit.DisclosureAuditor} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, setting{disclosure: disclosure})
			s := p.blind("hand")
			p.deal(s.ID, 0, seat(2, "a"))
			p.deal(s.ID, 2, burn, board(3))
			p.close(s.ID, completed)
			p.orders(1)
			trusted, err := trust.ParseTrust("", []byte(p.policy[houseOrigin]))
			check(t, err)
			db, err := sql.Open("sqlite", p.lab.db)
			check(t, err)
			defer db.Close()
			found, err := db.Query("SELECT entry, kept FROM entries ORDER BY idx")
			check(t, err)
			defer found.Close()
			held := 0
			for found.Next() {
				var text, kept []byte
				check(t, found.Scan(&text, &kept))
				e, err := audit.ParseEntry(text)
				check(t, err)
				var want tlog.Hash
				receipt := string(kept)
				switch b := e.Body.(type) {
				case *audit.Deal:
					want = b.Asked.After
				case *audit.Close:
					var end struct{ Follows string }
					check(t, json.Unmarshal(kept, &end))
					want, receipt = b.Follows.Leaf, end.Follows
					_, err := p.lab.dealer.Transcript(t.Context(), b.Shuffle, api.View{})
					check(t, err)
				default:
					continue
				}
				r, _, err := audit.ReceiptEntry(receipt)
				check(t, err)
				head, err := audit.OpenCheckpoint(r.Checkpoint, trusted.Keys...)
				check(t, err)
				check(t, r.CheckInclusion(head))
				if tlog.RecordHash(r.Entry) != want || !trusted.Policy.Satisfied(r.Checkpoint) {
					t.Errorf("the receipt behind a %T is of another entry, or not cosigned", e.Body)
				}
				held++
			}
			check(t, found.Err())
			if held != 3 {
				t.Errorf("%d receipts, want 3", held)
			}
			<-p.kept
			for _, d := range []*daemon{p.house, p.lab} {
				e, err := sqlite.OpenEvidence(d.db, sqlite.Options{})
				check(t, err)
				defer e.Close()
				r, err := fsck.Run(t.Context(), e, fsck.Options{Ledger: d.ledger.Info().Name, Keys: d.cfg.Keys})
				check(t, err)
				if len(r.Faults) > 0 || d == p.house && r.Store.Statements != 1 {
					t.Errorf("%s: %+v, %+v", d.origin, r.Faults, r.Store)
				}
			}
		})
	}
}

// TestAuditOfPair: the ledgers of two daemons, exported, hold against each other: hands that were played, one whose
// answer was lost and that ended behind it, and one that is open.
func TestAuditOfPair(t *testing.T) {
	p := newPair(t, setting{})
	for _, key := range []string{"hand-1", "hand-2"} {
		s := p.blind(key)
		p.deal(s.ID, 0, seat(2, "a"), seat(2, "b"))
		p.deal(s.ID, 4, burn, board(3))
		p.close(s.ID, completed)
	}
	s := p.blind("hand-3")
	p.deal(s.ID, 0, seat(2, "a"))
	p.front.broken("/deal", lost)
	_, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID, api.DealRequest{First: 2,
		Runs: []audit.Run{board(1)}})
	if err == nil {
		t.Fatal("dealt")
	}
	p.front.broken("", nil)
	p.close(s.ID, gone)
	p.orders(3)
	open := p.blind("hand-4")
	p.deal(open.ID, 0, seat(2, "a"))
	r, err := inspect.Pair(t.Context(), p.house.export(), p.lab.export(), inspect.PairOptions{Limit: time.Hour,
		House: inspect.Options{Policy: []byte(p.policy[houseOrigin])}, CoDealer: inspect.Options{
			Policy: []byte(p.policy[labOrigin])}})
	check(t, err)
	want := inspect.PairCounts{Shuffles: 4, Blind: 3, OrdersChecked: 3, Requests: 7, Matched: 6, Unplayed: 1}
	if r.Verdict != inspect.Proved || r.Totals != want || r.House.Totals.NeedsCoDealer != 1 {
		t.Errorf("%s, %+v, %d need a co-dealer: %v %v %v", r.Verdict, r.Totals, r.House.Totals.NeedsCoDealer, r.Faults,
			r.House.Faults, r.CoDealer.Faults)
	}
	if len(r.Unplayed) != 1 || r.Unplayed[0].Shuffle != s.ID || r.Unplayed[0].Seen == "" || r.Unplayed[0].Restarted {
		t.Errorf("%+v", r.Unplayed)
	}
}
