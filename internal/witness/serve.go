package witness

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxRequests is how many submissions are judged at a time. A further one gets 503. A body that is still being sent is
// not counted, so that nobody holds up others with half of one.
const maxRequests = 256

// ServeHTTP answers POST /add-checkpoint, GET /{hex SHA-256 of origin}/checkpoint, and GET
// /healthz. It never redirects.
func (w *Witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	a := w.answer(rw, r)
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if a.isSize {
		rw.Header().Set("Content-Type", "text/x.tlog.size")
	}
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.Header().Set("Cache-Control", "no-store")
	rw.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		rw.Write(a.body)
	}
	w.requests.WithLabelValues(a.route, strconv.Itoa(a.status)).Inc()
	w.record(r, a, time.Since(begin))
}

// answer is the response to a request, with what is logged about it.
type answer struct {
	status  int
	body    []byte
	isSize  bool   // the body is the size of a conflict
	route   string // add-checkpoint, checkpoint, healthz or ""
	about   submission
	problem error
}

// plain is an answer in plain text.
func plain(route string, status int, text string) answer {
	return answer{route: route, status: status, body: []byte(text + "\n")}
}

func (w *Witness) answer(rw http.ResponseWriter, r *http.Request) answer {
	hash, isCheckpoint := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/checkpoint")
	switch {
	case r.URL.Path == "/add-checkpoint":
		if r.Method != http.MethodPost {
			rw.Header().Set("Allow", "POST")
			return plain("add-checkpoint", http.StatusMethodNotAllowed, "the method must be POST")
		}
		return w.addCheckpoint(rw, r)
	case !isCheckpoint && r.URL.Path != "/healthz":
		return plain("", http.StatusNotFound, "no such address")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		rw.Header().Set("Allow", "GET, HEAD")
		return plain("", http.StatusMethodNotAllowed, "the method must be GET")
	case isCheckpoint:
		if l := w.logs[hash]; l != nil && l.newest().note != nil {
			return answer{route: "checkpoint", status: http.StatusOK, body: l.newest().note}
		}
		return plain("checkpoint", http.StatusNotFound, "no checkpoint was cosigned")
	}
	return w.health()
}

// health is 503 if the state of a log is in doubt.
func (w *Witness) health() answer {
	for _, l := range w.logs {
		l.mu.Lock()
		doubt := l.doubt
		l.mu.Unlock()
		if doubt != nil {
			return plain("healthz", http.StatusServiceUnavailable,
				"the state of a log is in doubt; see the log of this witness")
		}
	}
	return plain("healthz", http.StatusOK, "ok")
}

func (w *Witness) addCheckpoint(rw http.ResponseWriter, r *http.Request) answer {
	a := answer{route: "add-checkpoint", status: http.StatusOK}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, MaxRequest))
	if err != nil {
		return plain(a.route, http.StatusBadRequest,
			fmt.Sprintf("malformed request: unreadable, or more than %d bytes", MaxRequest))
	}
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	default:
		rw.Header().Set("Retry-After", "1")
		return plain(a.route, http.StatusServiceUnavailable, "too many requests under way")
	}
	a.about, a.problem = w.submit(body)
	var no *refusal
	switch {
	case a.problem == nil:
		a.body = a.about.line
	case !errors.As(a.problem, &no):
		a.status, a.body = http.StatusInternalServerError, []byte("internal error\n")
	case no.size >= 0:
		a.status, a.isSize, a.body = no.status, true, fmt.Appendf(nil, "%d\n", no.size)
	default:
		a.status, a.body = no.status, []byte(no.reason+"\n")
	}
	return a
}

// record writes one log line for a request. A checkpoint that its log signed and that does not
// extend what was cosigned may prove that the log forked, so the line has its text.
func (w *Witness) record(r *http.Request, a answer, took time.Duration) {
	level := slog.LevelInfo
	fields := []slog.Attr{
		slog.String("method", r.Method[:min(len(r.Method), 16)]), slog.String("route", a.route),
		slog.Int("status", a.status), slog.Duration("took", took),
	}
	if a.about.origin != "" {
		fields = append(fields, slog.String("origin", a.about.origin), slog.Int64("old", a.about.old),
			slog.Int64("size", a.about.size))
	}
	if a.problem != nil {
		fields = append(fields, slog.String("reason", a.problem.Error()))
	}
	switch {
	case a.status >= http.StatusInternalServerError:
		level = slog.LevelError
	case a.about.checkpoint != nil && (a.status == http.StatusUnprocessableEntity || a.status == http.StatusConflict &&
		!a.isSize):
		level = slog.LevelError
		fields = append(fields, slog.String("checkpoint", string(a.about.checkpoint)))
	}
	w.log.LogAttrs(r.Context(), level, "request", fields...)
}

// measure makes the figures of the witness.
func (w *Witness) measure() {
	w.registry = prometheus.NewRegistry()
	of := promauto.With(w.registry)
	w.requests = of.NewCounterVec(prometheus.CounterOpts{
		Name: "shuffled_witness_requests_total", Help: "Requests answered, by route and status.",
	}, []string{"route", "status"})
	for _, l := range w.logs {
		labels := prometheus.Labels{"origin": l.origin}
		of.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "shuffled_witness_size", Help: "Size of the newest cosigned checkpoint.", ConstLabels: labels,
		}, func() float64 { return float64(l.newest().N) })
		of.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "shuffled_witness_cosigned_timestamp_seconds",
			Help: "Time of the newest cosignature, 0 before the first.", ConstLabels: labels,
		}, func() float64 { return float64(l.newest().time) })
	}
}

// Metrics returns the handler of /metrics, for a listener of the operator's.
func (w *Witness) Metrics() http.Handler {
	return promhttp.HandlerFor(w.registry, promhttp.HandlerOpts{DisableCompression: true})
}
