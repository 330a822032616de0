package witness

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the figures of one witness.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec // by route and status
}

func newMetrics(w *Witness) metrics {
	m := metrics{prometheus.NewRegistry(), prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "shuffled_witness_requests_total", Help: "Requests answered, by route and status.",
	}, []string{"route", "status"})}
	m.registry.MustRegister(m.requests)
	for _, l := range w.logs {
		labels := prometheus.Labels{"origin": l.origin}
		m.registry.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "shuffled_witness_size", Help: "Size of the newest cosigned checkpoint.", ConstLabels: labels,
			}, func() float64 { return float64(l.newest().N) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "shuffled_witness_cosigned_timestamp_seconds",
				Help: "Time of the newest cosignature, 0 before the first.", ConstLabels: labels,
			}, func() float64 { return float64(l.newest().time) }),
		)
	}
	return m
}

func (m metrics) count(a answer) { m.requests.WithLabelValues(a.route, strconv.Itoa(a.status)).Inc() }

// Metrics returns the handler of /metrics, for a listener of the operator's.
func (w *Witness) Metrics() http.Handler {
	return promhttp.HandlerFor(w.metrics.registry, promhttp.HandlerOpts{DisableCompression: true})
}
