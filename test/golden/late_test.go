package golden

import (
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/dealer/api"
)

// late plays the hands of a house with five witnesses. Two of them are asked at an interval, and one of these two has a
// key of ML-DSA-44. The house plays a hand while neither of the two answers, one while the first does, and one while
// both do.
func (s *story) late() *daemon {
	d := s.newDaemon(lateOrigin)
	all := []string{"w6", "w7", "w8", "w9", "w10"}
	for _, name := range all {
		s.witness(name, name == "w10", d.verifiers()...)
	}
	up, intervals := map[string]string{}, map[string]time.Duration{}
	for _, name := range all[3:] {
		address := "https://" + name + ".witness.example"
		up[name] = s.servers[address]
		delete(s.servers, address)
		intervals[name+".witness.example"] = time.Millisecond
	}
	d.begin(audit.Genesis{Production: true, Policy: []byte(s.policy(all...)), Deals: audit.DealsCosigned,
		Disclosure: audit.DisclosureAuditor, DefaultCloseBy: 3600,
		AuditorKeys: [][]byte{auditorOf(s.t, lateOrigin).Public()}})
	d.open.Intervals, d.open.Probe = intervals, 10*time.Millisecond
	d.hire(cards, audit.RoleDealer)
	for n, name := range []string{"none", "one", "both"} {
		if n > 0 {
			s.servers["https://"+all[2+n]+".witness.example"] = up[all[2+n]]
			d.start()
		}
		id := d.hand("poker")
		d.awaitLate(n)
		s.file(d, id, name, "a hand in a file that "+name+" of the late witnesses cosigned", api.View{},
			api.View{Identity: cards.Identity, Recipient: "seat-1"})
	}
	s.receipts(d)
	return d
}

// awaitLate waits until exactly n of the witnesses with an interval have cosigned the newest head.
func (d *daemon) awaitLate(n int) {
	d.t.Helper()
	p, err := trust.ParsePolicy([]byte(d.outside))
	must(d.t, err)
	for {
		h, err := d.ledger.BestHead(d.t.Context(), d.ledger.Head().Size-1)
		must(d.t, err)
		late := slices.DeleteFunc(p.Cosignatures(h.Checkpoint), func(c trust.Cosignature) bool {
			return d.open.Intervals[c.Witness+".witness.example"] == 0
		})
		if len(late) == n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
