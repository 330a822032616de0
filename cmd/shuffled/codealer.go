package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/cli/place"
	"shuffled/internal/codealer"
	"shuffled/internal/config"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/keys"
	"shuffled/internal/ledger/sequencer"
)

// readHouses reads the policies of the houses for which this ledger deals orders. The map is by the origin of
// the house's ledger.
func readHouses(files []string) (map[string]blind.House, error) {
	houses := make(map[string]blind.House)
	for _, path := range files {
		trusted, err := place.ReadHouse(path)
		if err != nil {
			return nil, err
		}
		for _, key := range trusted.Keys {
			h := houses[key.Name()]
			if h.Policy != nil && h.Policy != trusted.Policy {
				return nil, fmt.Errorf("reading the policy of a house: %s is a second one of %s", path, key.Name())
			}
			houses[key.Name()] = blind.House{Keys: append(h.Keys, key), Policy: trusted.Policy}
		}
	}
	return houses, nil
}

// readCoDealers reads which co-dealers a ledger has, and checks that the files of their latches can be read.
func (h *house) readCoDealers(c config.Ledger) (peers []codealer.Peer, err error) {
	for _, text := range c.CoDealers {
		one, err := config.ParseCoDealer(text)
		if err != nil {
			return nil, fmt.Errorf("co_dealers of ledger %s %w", c.Name, err)
		}
		state := filepath.Join(h.cfg.Data, c.Name+".seen."+strings.ReplaceAll(one.Origin, "/", "_"))
		if err := codealer.Readable(state); err != nil {
			return nil, fmt.Errorf("reading the state of the co-dealer %s: %w", one.Origin, err)
		}
		peers = append(peers, codealer.Peer{Origin: one.Origin, URL: one.URL, Ledger: one.Ledger, State: state,
			Token: func() (string, error) {
				secret, err := keys.ReadSecret(one.TokenFile)
				return string(secret.Bytes()), err
			}})
	}
	return peers, nil
}

// openCoDealers connects a ledger with its co-dealers, and clears their latches if an operator gave a reason.
// It returns nil for a ledger that has none. The ledger is open, so no other daemon uses the same files.
func (h *house) openCoDealers(peers []codealer.Peer, l *sequencer.Ledger, clearFor string) (*codealer.CoDealers,
	error) {
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

var (
	coDealerAsked = counter("shuffled_co_dealer_asked_total",
		"Deals that the co-dealer was asked for, and orders that failed.", "ledger", "co_dealer")
	coDealerFailed = counter("shuffled_co_dealer_failed_total",
		"Deals and orders that the co-dealer did not give, or with an answer that is not valid.", "ledger", "co_dealer")
	coDealerWaited = counter("shuffled_co_dealer_answer_seconds_total",
		"Total time of the co-dealer's valid answers, from the request to the cosigned deal.", "ledger", "co_dealer")
	coDealerRefused = counter("shuffled_co_dealer_refused_total", "Deals that the co-dealer refused for good.",
		"ledger", "co_dealer")
	coDealerWaiting = gauge("shuffled_co_dealer_waiting", "Deals that wait for the co-dealer now.",
		"ledger", "co_dealer")
	coDealerOrders = gauge("shuffled_co_dealer_orders", "Orders of the co-dealer that were made ahead and are not used.",
		"ledger", "co_dealer")
	coDealerForked = gauge("shuffled_co_dealer_forked",
		"1 if the co-dealer showed two histories, and nobody cleared the latch.", "ledger", "co_dealer")
	orderConflicts = counter("shuffled_order_conflicts_total",
		"Requests of houses for places of an order that were opened for another request.", "ledger")
)

// collectCoDealers sends the figures of the co-dealers of a ledger, and of the orders that it deals for others.
func collectCoDealers(to chan<- prometheus.Metric, l *openedLedger) {
	name := l.ledger().Info().Name
	if l.dealer.Orders() {
		orderConflicts.show(to, float64(l.dealer.Conflicts()), name)
	}
	if l.way == nil {
		return
	}
	for _, f := range l.way.Figures() {
		coDealerAsked.show(to, float64(f.Asked), name, f.Origin)
		coDealerFailed.show(to, float64(f.Failed), name, f.Origin)
		coDealerRefused.show(to, float64(f.Refused), name, f.Origin)
		coDealerWaited.show(to, f.Waited.Seconds(), name, f.Origin)
		coDealerWaiting.show(to, float64(f.UnderWay), name, f.Origin)
		coDealerOrders.show(to, float64(f.Orders), name, f.Origin)
		coDealerForked.show(to, asNumber(f.Forked), name, f.Origin)
	}
}
