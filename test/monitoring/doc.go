// Package monitoring checks the alerting rules and the dashboard for operators with a real Prometheus that scraped a
// real daemon. The package contains only tests. Without Prometheus they are skipped; with SHUFFLED_REQUIRE_PROMETHEUS=1
// they fail. scripts/prometheus.sh finds or installs it.
package monitoring
