package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// table is everything that was compared.
type table struct {
	Machine machine `json:"machine"`
	Rows    []row   `json:"rows"`
}

// row is a line. Members that do not apply are 0.
type row struct {
	Section     string  `json:"section"`
	Name        string  `json:"name"`
	Connections int     `json:"connections,omitempty"`
	Unit        string  `json:"unit"`  // of Value
	Value       float64 `json:"value"` // the best round's
	P50         float64 `json:"p50_ms,omitempty"`
	P99         float64 `json:"p99_ms,omitempty"`
	Mean        float64 `json:"mean_ms,omitempty"`
	// Processor time for each unit in microseconds: of the service, of PostgreSQL, and
	// of the process that made the load.
	Service    float64 `json:"cpu_service_us,omitempty"`
	PostgreSQL float64 `json:"cpu_postgresql_us,omitempty"`
	Generator  float64 `json:"cpu_generator_us,omitempty"`
	Ran        string  `json:"ran"`
	Ratio      float64 `json:"ratio,omitempty"`     // to what To names
	Work       float64 `json:"cpu_ratio,omitempty"` // the same by processor time of all programs
	To         string  `json:"to,omitempty"`
}

// add prints rows under a title, and keeps them.
func (t *table) add(section, note string, rows ...row) {
	loads := slices.ContainsFunc(rows, func(r row) bool { return r.Mean > 0 })
	head := ""
	if loads {
		head = fmt.Sprintf(layout, "  "+note, "conns", "", "mean ms", "p50 ms", "p99 ms", "µs own/PG/load", "ran", "")
	} else {
		head = "  " + note
	}
	fmt.Printf("%s\n%s\n", section, strings.TrimRight(head, " "))
	for _, r := range rows {
		r.Section = section
		t.Rows = append(t.Rows, r)
		fmt.Println(strings.TrimRight(r.line(), " "))
	}
	fmt.Println()
}

// layout is of name, connections, value with unit, latencies, processor time,
// duration and ratio.
const layout = "%-44s %5s %20s %8s %8s %8s %16s  %-8s %s"

func (r row) line() string {
	blank := func(v float64, format string) string {
		if v == 0 {
			return ""
		}
		return fmt.Sprintf(format, v)
	}
	cpu := ""
	if r.Service+r.PostgreSQL > 0 {
		cpu = fmt.Sprintf("%s/%.0f/%s", dash(r.Service), r.PostgreSQL, dash(r.Generator))
	}
	ratio := ""
	if r.Ratio != 0 {
		ratio = fmt.Sprintf("%.2f × %s%s", r.Ratio, r.To, blank(r.Work, ", %.2f × by processor time"))
	}
	return fmt.Sprintf(layout, "  "+r.Name, blank(float64(r.Connections), "%.0f"), number(r.Value)+" "+r.Unit,
		blank(r.Mean, "%.2f"), blank(r.P50, "%.2f"), blank(r.P99, "%.2f"), cpu, r.Ran, ratio)
}

func dash(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", v)
}

// number shows at least three figures.
func number(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func (t *table) write(tb testing.TB, path string) {
	b, err := json.MarshalIndent(t, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o644)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
