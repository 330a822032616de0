package keys

import (
	"crypto/ed25519"
	"encoding/base64"
)

// webhookPrefix starts the one line of a webhook key file. The seed follows in base64.
const webhookPrefix = "shuffled-webhook-key:v1:"

// WebhookKey signs what a daemon sends to webhooks, and nothing else.
type WebhookKey struct{ private ed25519.PrivateKey }

// GenerateWebhook makes a new webhook key.
func GenerateWebhook() WebhookKey {
	return WebhookKey{ed25519.NewKeyFromSeed(random(ed25519.SeedSize).Bytes())}
}

// ReadWebhook reads a webhook key file, which may be encrypted under passphrase.
func ReadWebhook(path string, passphrase Secret) (WebhookKey, error) {
	seed, err := readLine(path, passphrase, "the webhook key", webhookPrefix, ed25519.SeedSize)
	if err != nil {
		return WebhookKey{}, err
	}
	return WebhookKey{ed25519.NewKeyFromSeed(seed)}, nil
}

// WriteFile creates the key's file with mode 0600, encrypted unless passphrase is empty. An
// existing file is an error that matches fs.ErrExist.
func (k WebhookKey) WriteFile(path string, passphrase Secret) error {
	return writeLine(path, passphrase, webhookPrefix, k.private.Seed())
}

// Public returns the public key in the form of Standard Webhooks.
func (k WebhookKey) Public() string {
	return "whpk_" + base64.StdEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// Sign returns the Ed25519 signature of the message.
func (k WebhookKey) Sign(message []byte) []byte { return ed25519.Sign(k.private, message) }
