package main

import (
	"path/filepath"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/config"
	"shuffled/internal/webhook"
)

func (h *house) webhookFile(ledger, address string) string {
	return filepath.Join(h.cfg.Data, webhook.File(ledger, address))
}

// openWebhooks opens a sender for each webhook of a ledger.
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

// The configuration names the hosts. The label webhook is the number of the address in its ledger's list, from 1.
var (
	webhookBehind = gauge("shuffled_webhook_behind_entries", "Entries that were not sent to the webhook yet.",
		"ledger", "host", "webhook")
	webhookFailing = gauge("shuffled_webhook_failing_seconds",
		"For how long no delivery to the webhook succeeded; 0 if the newest try did.", "ledger", "host", "webhook")
	webhookFailed = counter("shuffled_webhook_failed_total", "Tries to deliver to the webhook that did not succeed.",
		"ledger", "host", "webhook")
)

// collectWebhooks sends how far each webhook of the ledger is.
func collectWebhooks(to chan<- prometheus.Metric, l *openedLedger) {
	for i, sender := range l.senders {
		s, number := sender.Status(), strconv.Itoa(i+1)
		webhookBehind.show(to, float64(s.Behind), s.Ledger, s.Host, number)
		webhookFailing.show(to, s.Failing.Seconds(), s.Ledger, s.Host, number)
		webhookFailed.show(to, float64(s.Failed), s.Ledger, s.Host, number)
	}
}
