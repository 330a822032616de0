package client

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxWebhookAge is how far the time of a delivery may be in the past or the future.
const maxWebhookAge = 5 * time.Minute

// Delivery is the body that a webhook receives: all events of the entries from From on and below Next. Deliveries come
// in the order of the ledger, each at least once. A receiver keeps the Next of the last delivery that it took. Events
// of entries below it are repeats. A From above it means that something is missing.
type Delivery struct {
	Ledger string  `json:"ledger"`
	Origin string  `json:"origin"`
	From   uint64  `json:"from"`
	Next   uint64  `json:"next"`
	Events []Event `json:"events"`
}

// ReadWebhook returns what a daemon sent to a webhook about the ledger of this origin, if one of the keys signed it
// within five minutes of now. The keys are the member webhook of Keys of each daemon. Get them from somewhere that you
// trust. A daemon signs for all its ledgers with one key, so a delivery about another ledger is refused.
func ReadWebhook(origin string, header http.Header, body []byte, now time.Time, keys ...string) (*Delivery, error) {
	at, err := strconv.ParseInt(header.Get("Webhook-Timestamp"), 10, 64)
	if age := now.Sub(time.Unix(at, 0)).Abs(); err != nil || age > maxWebhookAge {
		return nil, errors.New("the time of the delivery is too far from now")
	}
	signed := append([]byte(header.Get("Webhook-Id")+"."+header.Get("Webhook-Timestamp")+"."), body...)
	for _, text := range strings.Fields(header.Get("Webhook-Signature")) {
		version, encoded, _ := strings.Cut(text, ",")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if version == "v1a" && err == nil && slices.ContainsFunc(keys, func(key string) bool {
			public, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whpk_"))
			return err == nil && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, signed, signature)
		}) {
			d, err := decoded[Delivery](body, nil)
			if err == nil && d.Origin != origin {
				return nil, fmt.Errorf("the delivery is about the ledger %q, not %q", d.Origin, origin)
			}
			return d, err
		}
	}
	return nil, errors.New("none of the keys has signed the delivery")
}
