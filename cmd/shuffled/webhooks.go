package main

import (
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/config"
	"shuffled/internal/webhook"
)

func (h *house) webhookFile(ledger, address string) string {
	return filepath.Join(h.cfg.Data, webhook.File(ledger, address))
}

// openWebhooks opens what sends the events of a ledger to its webhooks.
func (h *house) openWebhooks(c config.Ledger, of *openedLedger) (senders []*webhook.Sender, err error) {
	info := of.ledger().Info()
	for _, address := range c.Webhooks {
		s, err := webhook.New(webhook.Config{URL: address, Ledger: info.Name, Origin: info.Origin,
			Size: of.ledger().Head().Size, File: h.webhookFile(info.Name, address), Feed: of.feed,
			Key: h.hookKey, Log: h.log})
		if err != nil {
			return nil, err
		}
		senders = append(senders, s)
	}
	return senders, nil
}

// webhookFigures shows how far each webhook is, from when its ledger is open. The configuration
// names the hosts; the label webhook is the number of the address in its ledger's list, from 1.
type webhookFigures struct{ house atomic.Pointer[house] }

var (
	webhookLabels = []string{"ledger", "host", "webhook"}
	webhookBehind = prometheus.NewDesc("shuffled_webhook_behind_entries",
		"Entries that were not sent to the webhook yet.", webhookLabels, nil)
	webhookFailing = prometheus.NewDesc("shuffled_webhook_failing_seconds",
		"For how long no delivery to the webhook succeeded; 0 if the newest try did.", webhookLabels, nil)
	webhookFailed = prometheus.NewDesc("shuffled_webhook_failed_total",
		"Tries to deliver to the webhook that did not succeed.", webhookLabels, nil)
)

// Describe tells the names.
func (*webhookFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{webhookBehind, webhookFailing, webhookFailed} {
		to <- d
	}
}

// Collect tells the figures.
func (w *webhookFigures) Collect(to chan<- prometheus.Metric) {
	h := w.house.Load()
	if h == nil {
		return
	}
	for _, l := range h.open() {
		for i, sender := range l.senders {
			s := sender.Status()
			show := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
				to <- prometheus.MustNewConstMetric(d, kind, v, s.Ledger, s.Host, strconv.Itoa(i+1))
			}
			show(webhookBehind, prometheus.GaugeValue, float64(s.Behind))
			show(webhookFailing, prometheus.GaugeValue, s.Failing.Seconds())
			show(webhookFailed, prometheus.CounterValue, float64(s.Failed))
		}
	}
}
