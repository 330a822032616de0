package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"shuffled/internal/audit"
)

// Report is what a run measured.
type Report struct {
	Connections int     `json:"connections"`
	Rate        float64 `json:"rate"`    // due per second; 0: as many as were answered
	Seconds     float64 `json:"seconds"` // measured
	Warmup      float64 `json:"warm_up_seconds"`
	Mix         string  `json:"mix"`
	Batch       int     `json:"batch"`
	Started     string  `json:"started"` // UTC

	// PerSecond counts requests acknowledged within the measured time, a batch as one, Shuffles the commits in them.
	PerSecond float64 `json:"per_second"`
	Shuffles  float64 `json:"shuffles_per_second"`
	// LatencyMS is by kind, from the time when a request was due to its answer, including repeats and the
	// pauses that the daemon asked for; for a hand, from its commit to its close.
	LatencyMS map[string]Latency `json:"latency_ms"`
	// LateMS is the time from when a request was due until it was sent: the latency that the generator and
	// busy connections add.
	LateMS Latency `json:"sent_late_ms"`

	Requests     uint64            `json:"requests"`     // sent, warm-up and repeats included
	Acknowledged uint64            `json:"acknowledged"` // warm-up included
	Refused      map[string]uint64 `json:"refused"`      // answers by code
	Errors       uint64            `json:"errors"`       // of connections
	FirstError   string            `json:"first_error,omitempty"`
	GivenUp      uint64            `json:"given_up"` // requests whose outcome nobody told before the end
	Unsent       uint64            `json:"unsent"`   // were due, and no connection was free

	// Unusable says why the figures measure nothing; empty if they are usable.
	Unusable string `json:"unusable,omitempty"`

	Verified  Verified  `json:"verified"`
	Generator Generator `json:"generator"`
}

// Generator is the processor time of the load generator, before verification.
type Generator struct {
	CPUSeconds    float64 `json:"cpu_seconds"`
	CPUPerRequest float64 `json:"cpu_us_per_request"`
}

func (r *run) report(cpu time.Duration) *Report {
	c := &r.cfg
	seconds := max(r.end.Sub(r.start).Seconds(), 1e-9)
	out := &Report{
		Connections: c.Connections, Rate: c.Rate, Seconds: seconds, Warmup: c.Warmup.Seconds(), Mix: c.Mix.String(),
		Batch:     c.Batch,
		Started:   r.began.UTC().Format(time.RFC3339),
		PerSecond: float64(r.within.Load()) / seconds, Shuffles: float64(r.shuffles.Load()) / seconds,
		LatencyMS: make(map[string]Latency), LateMS: r.late.latency(),
		Requests: r.requests.Load(), Acknowledged: r.acknowledged.Load(), Refused: r.codes,
		Errors: r.errors.Load(), FirstError: r.firstError, GivenUp: r.givenUp.Load(), Unsent: r.unsent.Load(),
	}
	for k := range kinds {
		if l := r.latency[k].latency(); l.Count > 0 {
			out.LatencyMS[k.String()] = l
		}
	}
	out.Unusable = r.unusable()
	out.Generator = Generator{CPUSeconds: cpu.Seconds(),
		CPUPerRequest: cpu.Seconds() * 1e6 / float64(max(out.Requests, 1))}
	return out
}

// unusable says why a run measured nothing: it did nothing, or more requests were refused than served. With
// a rate above the daemon's capacity, refusals are part of the measurement.
func (r *run) unusable() string {
	done, refused, failed := r.acknowledged.Load(), r.refusals.Load(), r.errors.Load()
	switch {
	case done == 0:
		return "nothing was acknowledged" + r.because()
	case r.within.Load() == 0:
		return "nothing was acknowledged within the measured time" + r.because()
	case r.cfg.Rate == 0 && refused+failed > done:
		return fmt.Sprintf("%d requests were refused and %d failed, and %d were acknowledged%s", refused, failed, done,
			r.because())
	}
	return ""
}

// because is the first error of a connection, or else the refusal that came most often.
func (r *run) because() string {
	if r.firstError != "" {
		return ": " + r.firstError
	}
	if len(r.codes) == 0 {
		return ""
	}
	return ": " + audit.Printable(slices.MaxFunc(slices.Sorted(maps.Keys(r.codes)), func(a, b string) int {
		return cmp.Compare(r.codes[a], r.codes[b])
	}))
}
