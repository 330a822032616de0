// Package monitoring holds what an operator's Prometheus and Grafana are given against a
// real Prometheus that scraped a real daemon. It has no code but tests.
// SHUFFLED_REQUIRE_PROMETHEUS=1 fails where it would be skipped; scripts/prometheus.sh finds
// or installs Prometheus.
package monitoring
