package main

import (
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/keys"
	"shuffled/internal/webhook"
)

// openWebhooks opens what sends the events of each ledger to its webhooks. Without the
// key that signs them nothing is sent, and the daemon does not start.
func (h *house) openWebhooks(passphrase keys.Secret) error {
	h.hooks = make(map[string]string)
	addresses := make(map[string][]string)
	for _, l := range h.cfg.Ledgers {
		addresses[l.Name] = l.Webhooks
	}
	for i, d := range h.dealers {
		l := d.Ledger()
		name := l.Info().Name
		if len(addresses[name]) == 0 {
			continue
		}
		key, err := keys.ReadWebhook(h.cfg.Webhook.Key, passphrase)
		if err != nil {
			return err
		}
		h.hooks[name] = key.Public()
		for _, address := range addresses[name] {
			s, err := webhook.New(webhook.Config{URL: address, Ledger: name, Origin: l.Info().Origin,
				Size: l.Head().Size, File: filepath.Join(h.cfg.Data, webhook.File(name, address)), Feed: h.feeds[i],
				Key: key, Log: h.log})
			if err != nil {
				return err
			}
			h.senders = append(h.senders, s)
		}
	}
	return nil
}

// webhookFigures shows how far each webhook is, from when they are opened. The configuration
// names the hosts; the label webhook is the number of the address in its ledger's list, from 1.
type webhookFigures struct {
	senders atomic.Pointer[[]*webhook.Sender]
}

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
	senders := w.senders.Load()
	if senders == nil {
		return
	}
	numbers := make(map[string]int)
	for _, sender := range *senders {
		s := sender.Status()
		numbers[s.Ledger]++
		show := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
			to <- prometheus.MustNewConstMetric(d, kind, v, s.Ledger, s.Host, strconv.Itoa(numbers[s.Ledger]))
		}
		show(webhookBehind, prometheus.GaugeValue, float64(s.Behind))
		show(webhookFailing, prometheus.GaugeValue, s.Failing.Seconds())
		show(webhookFailed, prometheus.CounterValue, float64(s.Failed))
	}
}
