package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promtool returns its path, or skips the test; SHUFFLED_REQUIRE_PROMETHEUS=1 fails it.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("SHUFFLED_REQUIRE_PROMETHEUS") == "1" {
		t.Fatal("no promtool: run scripts/prometheus.sh")
	}
	if err != nil {
		t.Skip("no promtool: run scripts/prometheus.sh")
	}
	return path
}

// alertTests say for each alert which figures, every 15 seconds, make it fire, and which
// similar ones do not. Times are those at which is looked.
var alertTests = []struct {
	alert       string
	bad, good   []string // NAME{LABELS} VALUES of promtool
	badAt, soon string   // when it fires; when it does not yet, "" if it fires at once
}{
	{"ShuffledDown", []string{`up{job="shuffled"} 1 0x40`}, []string{`up{job="shuffled"} 1x40`}, "5m", "45s"},
	{"ShuffledNotWritable", []string{`shuffled_ledger_writable{ledger="main"} 1 0x40`},
		[]string{`shuffled_ledger_writable{ledger="main"} 1 0 1 0 1x40`}, "5m", "45s"},
	{"ShuffledEntropyLatched", []string{`shuffled_ledger_entropy_latched{ledger="main"} 1x40`},
		[]string{`shuffled_ledger_entropy_latched{ledger="main"} 0x40`}, "5m", ""},
	{"ShuffledEntropyLatched", []string{`shuffled_entropy_latched 1x40`},
		[]string{`shuffled_entropy_latched 0x40`}, "5m", ""},
	{"ShuffledStatistics", []string{`shuffled_monitor_findings_total{level="warn"} 0x10 1x40`},
		[]string{`shuffled_monitor_findings_total{level="warn"} 3x40`}, "5m", "1m"},
	{"ShuffledKillSwitch", []string{`shuffled_ledger_kill_switches{ledger="main"} 1x80`},
		[]string{`shuffled_ledger_kill_switches{ledger="main"} 0x80`}, "16m", "10m"},
	{"ShuffledOverdue", []string{`shuffled_ledger_overdue_shuffles{ledger="main"} 0 2x40`},
		[]string{`shuffled_ledger_overdue_shuffles{ledger="main"} 0 1 0 1 0x40`}, "5m", "45s"},
	{"ShuffledRefuses", []string{`shuffled_http_refused_total{ledger="main",reason="queue"} 0+1x40`},
		[]string{`shuffled_http_refused_total{ledger="main",reason="token_rate"} 0+1x40`}, "5m", ""},
	{"ShuffledUnknownTokens", []string{`shuffled_http_requests_total{route="a",status="401"} 0+3x80`},
		[]string{`shuffled_http_requests_total{route="a",status="404"} 0+3x80`}, "15m", "2m"},
	{"ShuffledConnectionsRefused", []string{`shuffled_http_refused_connections_total 0+1x40`},
		[]string{`shuffled_http_refused_connections_total 7x40`}, "5m", ""},
	{"ShuffledAppendsFail", []string{`shuffled_ledger_appends_total{ledger="main",outcome="unknown"} 0+1x40`},
		[]string{`shuffled_ledger_appends_total{ledger="main",outcome="lost"} 0+1x40`}, "5m", ""},
	{"ShuffledAppendsSlow", []string{`shuffled_store_append_seconds_bucket{le="0.5"} 0+90x60`,
		`shuffled_store_append_seconds_bucket{le="1"} 0+100x60`, `shuffled_store_append_seconds_bucket{le="+Inf"} 0+100x60`},
		[]string{`shuffled_store_append_seconds_bucket{le="0.5"} 0+100x60`,
			`shuffled_store_append_seconds_bucket{le="1"} 0+100x60`, `shuffled_store_append_seconds_bucket{le="+Inf"} 0+100x60`},
		"10m", "3m"},
	{"ShuffledTwoWriters", []string{`shuffled_ledger_appends_total{ledger="main",outcome="lost"} 0+5x60`,
		`shuffled_ledger_appends_total{ledger="main",outcome="landed"} 0+10x60`},
		[]string{`shuffled_ledger_appends_total{ledger="main",outcome="lost"} 0+3x60`,
			`shuffled_ledger_appends_total{ledger="main",outcome="landed"} 0+10x60`}, "10m", "3m"},
	{"ShuffledPoolExhausted", []string{`shuffled_store_pool_wait_seconds_total{pool="reads"} 0+10x60`},
		[]string{`shuffled_store_pool_wait_seconds_total{pool="reads"} 0+5x60`}, "10m", "3m"},
	{"ShuffledNoSynchronousStandby", []string{`shuffled_store_synchronous_standbys{job="shuffled"} 1 0x40`,
		`shuffled_store_synchronous_replication{job="shuffled"} 1x40`},
		[]string{`shuffled_store_synchronous_standbys{job="shuffled"} 0x40`,
			`shuffled_store_synchronous_replication{job="shuffled"} 0x40`}, "5m", "30s"},
	{"ShuffledWitnessSilent", []string{`shuffled_witness_ok{ledger="main",witness="w1"} 1 0x40`},
		[]string{`shuffled_witness_ok{ledger="main",witness="w1"} 1 0 0 1x40`}, "5m", "1m"},
	{"ShuffledNotCosigned", []string{`shuffled_ledger_entries{ledger="main"} 10+2x60`,
		`shuffled_ledger_cosigned_entries{ledger="main"} 5+2x60`},
		[]string{`shuffled_ledger_entries{ledger="main"} 10+2x60`,
			`shuffled_ledger_cosigned_entries{ledger="main"} 9+2x60`}, "10m", "1m"},
	{"ShuffledCoDealerForked", []string{`shuffled_co_dealer_forked{ledger="main",co_dealer="lab"} 1x40`},
		[]string{`shuffled_co_dealer_forked{ledger="main",co_dealer="lab"} 0x40`}, "5m", ""},
	{"ShuffledCoDealerSilent", []string{`shuffled_co_dealer_failed_total{ledger="main",co_dealer="lab"} 0+3x60`,
		`shuffled_co_dealer_asked_total{ledger="main",co_dealer="lab"} 0+10x60`},
		[]string{`shuffled_co_dealer_failed_total{ledger="main",co_dealer="lab"} 0+1x60`,
			`shuffled_co_dealer_asked_total{ledger="main",co_dealer="lab"} 0+20x60`}, "10m", "45s"},
	{"ShuffledCoDealerRefuses", []string{`shuffled_order_conflicts_total{ledger="main"} 0x10 1x40`},
		[]string{`shuffled_co_dealer_refused_total{ledger="main",co_dealer="lab"} 2x40`}, "5m", "1m"},
	{"ShuffledNoOrders", []string{`shuffled_co_dealer_orders{ledger="main",co_dealer="lab"} 0x60`,
		`shuffled_co_dealer_asked_total{ledger="main",co_dealer="lab"} 0+10x60`},
		[]string{`shuffled_co_dealer_orders{ledger="main",co_dealer="lab"} 0x60`, `shuffled_co_dealer_asked_total{ledger="main",co_dealer="lab"} 7x60`},
		"10m", "1m"},
	{"ShuffledEventsBehind", []string{`shuffled_ledger_unread_entries{ledger="main"} 2000x40`},
		[]string{`shuffled_ledger_unread_entries{ledger="main"} 900x40`}, "5m", "1m"},
	{"ShuffledFollowersRefused", []string{`shuffled_http_refused_total{ledger="main",reason="followers"} 0+1x40`},
		[]string{`shuffled_http_refused_total{ledger="main",reason="readers"} 0+1x40`}, "5m", ""},
	// Time begins at 0: a week has 604800 seconds.
	{"ShuffledCertificateEnds", []string{`shuffled_tls_not_after_timestamp_seconds{of="listener"} 604900x40`},
		[]string{`shuffled_tls_not_after_timestamp_seconds{of="listener"} 700000x40`}, "5m", "1m"},
	{"ShuffledCertificateEndsNow", []string{`shuffled_tls_not_after_timestamp_seconds{of="listener"} 86500x40`},
		[]string{`shuffled_tls_not_after_timestamp_seconds{of="listener"} 604900x40`}, "5m", "1m"},
	{"ShuffledFilesFull", []string{`shuffled_host_open_files 950x60`, `shuffled_host_open_files_limit 1000x60`},
		[]string{`shuffled_host_open_files 850x60`, `shuffled_host_open_files_limit 1000x60`}, "10m", "3m"},
	{"ShuffledMemoryFull", []string{`shuffled_host_memory_bytes 98x60`, `shuffled_host_memory_limit_bytes 100x60`},
		[]string{`shuffled_host_memory_bytes 94x60`, `shuffled_host_memory_limit_bytes 100x60`}, "10m", "3m"},
	{"ShuffledDiskFull", []string{`shuffled_host_data_free_bytes 1000000000x60`},
		[]string{`shuffled_host_data_free_bytes 2000000000x60`}, "10m", "3m"},
	{"ShuffledClockNotKept", []string{`shuffled_host_clock_synchronised 0x200`},
		[]string{`shuffled_host_clock_synchronised 1x200`}, "35m", "10m"},
}

// TestAlertsFire: Prometheus's own tool computes each rule over figures that are bad, and over others that are not.
func TestAlertsFire(t *testing.T) {
	tool := promtool(t)
	rules, err := filepath.Abs("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "rule_files: [%q]\nevaluation_interval: 15s\ntests:\n", rules)
	add := func(alert string, series []string, at string, fires bool) {
		text.WriteString("  - interval: 15s\n    input_series:\n")
		for _, s := range series {
			name, values, _ := strings.Cut(s, " ")
			fmt.Fprintf(&text, "      - {series: '%s', values: '%s'}\n", name, values)
		}
		expr := fmt.Sprintf(`count(ALERTS{alertname="%s",alertstate="firing"})`, alert)
		fmt.Fprintf(&text, "    promql_expr_test:\n      - expr: '%s'\n        eval_time: %s\n        exp_samples: ", expr, at)
		if fires {
			text.WriteString("[{labels: '{}', value: 1}]\n")
		} else {
			text.WriteString("[]\n")
		}
	}
	for _, a := range alertTests {
		add(a.alert, a.bad, a.badAt, true)
		add(a.alert, a.good, a.badAt, false)
		if a.soon != "" {
			add(a.alert, a.bad, a.soon, false)
		}
	}
	path := filepath.Join(t.TempDir(), "alerts_test.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "check", "rules", rules).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(tool, "test", "rules", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestAlertsAreComplete: each alert has a test, a severity and a section among the runbooks,
// and there is no other test or section.
func TestAlertsAreComplete(t *testing.T) {
	rules, runbooks := read(t, "alerts.yaml"), read(t, "../docs/operations/runbooks.md")
	var named, tested, written []string
	for _, m := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(rules, -1) {
		named = append(named, m[1])
		if !strings.Contains(rules, "runbook_url: docs/operations/runbooks.md#"+strings.ToLower(m[1])+"\n") {
			t.Errorf("%s names no runbook", m[1])
		}
	}
	for _, a := range alertTests {
		tested = append(tested, a.alert)
	}
	tested = slices.Compact(tested)
	for _, m := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(runbooks, -1) {
		written = append(written, m[1])
	}
	if !slices.Equal(named, tested) || !slices.Equal(named, written) || len(named) < 20 {
		t.Errorf("alerts:   %v\ntests:    %v\nrunbooks: %v", named, tested, written)
	}
	if got := len(regexp.MustCompile(`severity: (page|ticket)}`).FindAllString(rules, -1)); got != len(named) {
		t.Errorf("%d severities for %d alerts", got, len(named))
	}
}
