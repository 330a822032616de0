package httpapi

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/stops"
	"shuffled/web"
)

// Operator returns the handler of the operator's own listener: /healthz, /readyz, /metrics and /console, with the reads
// of the console. It belongs on an address that only operators reach. The console's reads are those of the API, for the
// same tokens, so that no table and no shuffle is shown without a token. All other addresses count against no limit,
// and answer when the public listener is full.
func (s *Server) Operator() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"status":"ok"}`))
	})
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{DisableCompression: true}))
	mux.HandleFunc("GET /console", console)
	reads := http.NewServeMux()
	for _, what := range []string{"tables", "shuffles", "events", "switches", "acts"} {
		reads.Handle("GET /v1/{ledger}/"+what, s)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, translate(r.Method, noRoute(mux, r)))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.mayHost(r.Host) {
			writeProblem(s.record(w, r), &refusal{code: CodeForbidden, detail: "the request names the host " +
				shown(r.Host, "name") + "; operators use an IP address, localhost, or a name of operator_hosts"})
			return
		}
		if h, pattern := reads.Handler(r); pattern != "" && plainPath(r) {
			h.ServeHTTP(w, r)
			return
		}
		rec := s.record(w, r)
		w.Header().Set("Cache-Control", "no-store")
		if !plainPath(r) {
			writeProblem(rec, &refusal{code: CodeNoSuchRoute})
			return
		}
		mux.ServeHTTP(rec, r)
	})
}

// mayHost reports whether operators reach their listener under the host of a request. The listener has no access
// control, and a page can give its own name the address of a listener that only a browser inside the house reaches (DNS
// rebinding): the browser then sends the page's name.
func (s *Server) mayHost(hostPort string) bool {
	host := hostPort
	if name, _, err := net.SplitHostPort(hostPort); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	known := func(name string) bool { return strings.EqualFold(name, host) } // browsers write small letters
	return err == nil || host == "" || known("localhost") || slices.ContainsFunc(s.cfg.OperatorHosts, known)
}

// Combined returns a handler with the public addresses and the operator's, for a
// daemon that has one listener: a sandbox's.
func (s *Server) Combined() http.Handler {
	operator := s.Operator()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics", "/console":
			operator.ServeHTTP(w, r)
		default:
			s.ServeHTTP(w, r)
		}
	})
}

// console answers with the page that shows tables and events to people.
func console(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	guard(w.Header(), web.ConsolePolicy, "()")
	w.Write(web.Console)
}

// readyz answers what every ledger can do, why not and what to do about it, and what of the host needs attention.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	ledgers, _, notReady := s.ledgers.all()
	health := s.cfg.Health()
	notReady = cmp.Or(notReady, health.Reason)
	answer := Readiness{Ready: notReady == "", Reason: optional(notReady), Warnings: health.Warnings,
		Ledgers: []LedgerReadiness{}}
	for _, l := range ledgers {
		live, can := l.Log.Live(), l.Log.Abilities(l.Dealer.Latched())
		one := LedgerReadiness{
			Name: l.Log.Info().Name, Ready: can.Ready(), Read: ability(can.Read), Commit: ability(can.Commit),
			Deal: ability(can.Deal), Size: live.Size, Newest: Timestamp(live.Time), Latched: live.Latched,
			Queue: l.Log.QueueLen(),
		}
		answer.Ready = answer.Ready && one.Ready
		one.Cosigned, one.Witnesses = witnessReadiness(l.Log)
		answer.Ledgers = append(answer.Ledgers, one)
	}
	w.Header().Set("Content-Type", "application/json")
	if !answer.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	body, _ := json.Marshal(answer) // no error: it always has an encoding
	w.Write(append(body, '\n'))
}

// ability is whether something works or, with an error, why not. If the store named a cause, the reason is the cause
// alone: the error holds addresses and names that are for the log.
func ability(err error) Ability {
	if err == nil {
		return Ability{Ok: true}
	}
	reason := string(stops.Of(err))
	if reason == "" {
		reason = clip(err.Error(), 500)
	}
	return Ability{Reason: &reason, Cure: new(ledger.Cure(err))}
}

// witnessReadiness returns what the witnesses have cosigned; nil without witnesses.
func witnessReadiness(l *sequencer.Ledger) (cosigned *uint64, list []WitnessReadiness) {
	states := l.Witnesses()
	if len(states) == 0 {
		return nil, nil
	}
	for _, s := range states {
		one := WitnessReadiness{Name: s.Name, Ok: s.Err == nil, Size: s.Size}
		if s.Err != nil {
			one.Reason = optional(clip(s.Err.Error(), 500))
		}
		list = append(list, one)
	}
	return new(l.Live().Cosigned), list
}
