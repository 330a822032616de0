package main

import (
	"path/filepath"

	"shuffled/internal/keys"
	"shuffled/internal/webhook"
)

// openWebhooks returns what sends the events of each ledger to its webhooks. Without the
// key that signs them nothing is sent, and the daemon does not start.
func (h *house) openWebhooks(passphrase keys.Secret) (senders []*webhook.Sender, err error) {
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
			return nil, err
		}
		h.hooks[name] = key.Public()
		for _, address := range addresses[name] {
			s, err := webhook.New(webhook.Config{URL: address, Ledger: name, Origin: l.Info().Origin,
				Next: l.Head().Size, File: filepath.Join(h.cfg.Data, webhook.File(name, address)), Feed: h.feeds[i],
				Key: key, Log: h.log})
			if err != nil {
				return nil, err
			}
			senders = append(senders, s)
		}
	}
	return senders, nil
}
