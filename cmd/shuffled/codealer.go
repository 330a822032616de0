package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/audit"
	"shuffled/internal/codealer"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
)

const maxHousePolicy = 128 << 10 // bytes of a policy file (docs/SPEC.md section 1.2)

// readHouses reads the policies of the ledgers that this one deals orders for.
func readHouses(files []string) (map[string]dealer.House, error) {
	houses := make(map[string]dealer.House)
	for _, path := range files {
		text, err := term.ReadBounded(path, maxHousePolicy)
		if err != nil {
			return nil, fmt.Errorf("reading the policy of a house: %w", err)
		}
		trusted, err := audit.ParseTrust("", text)
		if err != nil {
			return nil, fmt.Errorf("reading the policy of a house: %s: %w", path, err)
		}
		if len(trusted.Keys) == 0 {
			return nil, fmt.Errorf("reading the policy of a house: %s has no log line with the key of its ledger", path)
		}
		for _, key := range trusted.Keys {
			h := houses[key.Name()]
			houses[key.Name()] = dealer.House{Keys: append(h.Keys, key), Policy: trusted.Policy}
		}
	}
	return houses, nil
}

// readCoDealers reads who the co-dealers of a ledger are, and tries whether their latches can be read.
func (h *house) readCoDealers(c config.Ledger) (peers []codealer.Peer, err error) {
	for _, text := range c.CoDealers {
		one, err := config.ParseCoDealer(text)
		if err != nil {
			return nil, fmt.Errorf("co_dealers of ledger %s %w", c.Name, err)
		}
		state := filepath.Join(h.cfg.Data, c.Name+".seen."+strings.ReplaceAll(one.Origin, "/", "_"))
		if err := codealer.Readable(state); err != nil {
			return nil, fmt.Errorf("opening the way to the co-dealer %s: %w", one.Origin, err)
		}
		peers = append(peers, codealer.Peer{Origin: one.Origin, URL: one.URL, Ledger: one.Ledger, State: state,
			Token: func() (string, error) {
				secret, err := keys.ReadSecret(one.TokenFile)
				return string(secret.Bytes()), err
			}})
	}
	return peers, nil
}

// openCoDealers opens the ways to the co-dealers of a ledger, and clears their latches if an operator gives a reason;
// nil if it has none. The ledger is open: no other daemon has these files.
func (h *house) openCoDealers(peers []codealer.Peer, l *ledger.Ledger, clearFor string) (*codealer.CoDealers, error) {
	if len(peers) == 0 {
		return nil, nil
	}
	for _, p := range peers {
		if clearFor == "" {
			break
		}
		cleared, err := codealer.Clear(p.State, time.Now())
		if err != nil {
			return nil, err
		}
		if cleared {
			h.log.Warn("the latch of a co-dealer was cleared", "co_dealer", p.Origin, "reason", clearFor)
		}
	}
	return codealer.Open(codealer.Config{Origin: l.Info().Origin, Pin: l.CoDealer, Pool: h.cfg.Limits.Orders,
		Asks: h.cfg.Limits.Asks, Peers: peers, Log: h.log, Now: time.Now})
}

// coDealerFigures shows what deals wait for, from when its ledger is open.
type coDealerFigures struct{ house atomic.Pointer[house] }

var (
	coDealerLabels = []string{"ledger", "co_dealer"}
	coDealerAsked  = coDealerDesc("shuffled_co_dealer_asked_total", "Deals that the co-dealer was asked for.")
	coDealerFailed = coDealerDesc("shuffled_co_dealer_failed_total",
		"Deals that the co-dealer did not answer, or by what does not hold.")
	coDealerWaited = coDealerDesc("shuffled_co_dealer_answer_seconds_total",
		"How long the co-dealer's answers that hold took, from the request to the cosigned deal, all together.")
	coDealerRefused = coDealerDesc("shuffled_co_dealer_refused_total", "Deals that the co-dealer refused for good.")
	coDealerWaiting = coDealerDesc("shuffled_co_dealer_waiting", "Deals that wait for the co-dealer now.")
	coDealerOrders  = coDealerDesc("shuffled_co_dealer_orders",
		"Orders of the co-dealer that were made ahead and are not used.")
	coDealerForked = coDealerDesc("shuffled_co_dealer_forked",
		"1 if the co-dealer showed two histories, and nobody cleared it.")
	orderConflicts = prometheus.NewDesc("shuffled_order_conflicts_total",
		"Requests of houses for places of an order that another request was given.", []string{"ledger"}, nil)
)

func coDealerDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, coDealerLabels, nil)
}

// Describe tells the names.
func (*coDealerFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{coDealerAsked, coDealerFailed, coDealerRefused, coDealerWaiting,
		coDealerWaited, coDealerOrders, coDealerForked, orderConflicts} {
		to <- d
	}
}

// Collect tells the figures.
func (c *coDealerFigures) Collect(to chan<- prometheus.Metric) {
	h := c.house.Load()
	if h == nil {
		return
	}
	for _, l := range h.open() {
		name := l.ledger().Info().Name
		if l.dealer.Orders() {
			to <- prometheus.MustNewConstMetric(orderConflicts, prometheus.CounterValue, float64(l.dealer.Conflicts()),
				name)
		}
		if l.way == nil {
			continue
		}
		for _, f := range l.way.Figures() {
			show := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
				to <- prometheus.MustNewConstMetric(d, kind, v, name, f.Origin)
			}
			show(coDealerAsked, prometheus.CounterValue, float64(f.Asked))
			show(coDealerFailed, prometheus.CounterValue, float64(f.Failed))
			show(coDealerRefused, prometheus.CounterValue, float64(f.Refused))
			show(coDealerWaited, prometheus.CounterValue, f.Waited.Seconds())
			show(coDealerWaiting, prometheus.GaugeValue, float64(f.UnderWay))
			show(coDealerOrders, prometheus.GaugeValue, float64(f.Orders))
			forked := 0.0
			if f.Forked {
				forked = 1
			}
			show(coDealerForked, prometheus.GaugeValue, forked)
		}
	}
}
