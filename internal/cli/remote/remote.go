// Package remote is how a command reaches a running daemon: its flags, the client made from them, and what to
// do if the daemon refuses.
package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

// Flags are the flags of the commands that ask a running daemon. A token is never on the command line, where
// every user of the host can read it.
type Flags struct {
	URL       string `name:"url" default:"http://127.0.0.1:8080" env:"SHUFFLED_URL" help:"Address of the daemon."`
	Ledger    string `default:"main" help:"Name of the ledger."`
	Key       string `placeholder:"VKEY" env:"SHUFFLED_KEY" help:"Check every answer with this verifier key of the ledger, or with the key in the file of this name."`
	Policy    string `placeholder:"FILE" help:"Check every answer with a policy (C2SP tlog-policy) instead of a key. Its log lines are the ledger's keys, from before and after a rotation."`
	TokenFile string `placeholder:"FILE" help:"File with the API token, mode 0600. Default: the token in SHUFFLED_TOKEN."`

	ClientCertificate

	Again bool `help:"Accept the answer to an earlier try of the same command. Without it, an answer from before this command is refused."`

	JSON bool `name:"json" help:"Print JSON."`
}

// ClientCertificate are the flags of a certificate that stands for a token.
type ClientCertificate struct {
	ClientCert string `placeholder:"FILE" and:"certificate" help:"Client certificate instead of a token, in PEM, followed by the certificates between it and its authority."`
	ClientKey  string `placeholder:"FILE" and:"certificate" help:"Private key of the client certificate, in PEM, mode 0600."`
}

// Tried is the context of a command that writes. With --again, the client accepts an answer from before the command.
func (r *Flags) Tried(ctx context.Context) context.Context {
	if r.Again {
		return client.FirstTried(ctx, time.Time{})
	}
	return ctx
}

// tokenVariable has the token if no file is named.
const tokenVariable = "SHUFFLED_TOKEN"

// Connect returns a client of the ledger. Without a pinned key it warns.
func (r *Flags) Connect(ctx context.Context, s term.Streams) (*client.Client, error) {
	cfg, err := r.Config(ctx, s.Err)
	if err != nil {
		return nil, err
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, term.Usage("%s", term.Visible(err.Error()))
	}
	return c, nil
}

// Config is the configuration of a client of the ledger. Without a pinned key the client takes the keys that
// the daemon names, and Config writes a warning.
func (r *Flags) Config(ctx context.Context, warnings io.Writer) (cfg client.Config, err error) {
	if !strings.HasPrefix(r.URL, "http://") && !strings.HasPrefix(r.URL, "https://") {
		_, host, ok := strings.Cut(r.URL, "@") // what is before the @ may be a password
		if !ok {
			host = r.URL
		}
		return cfg, term.Usage("--url, or SHUFFLED_URL, must begin with http:// or https://, and not with %q", host)
	}
	cfg = client.Config{URL: r.URL, Ledger: r.Ledger, Attempts: 5} // a person waits at the terminal
	token := keys.NewSecret([]byte(os.Getenv(tokenVariable)))
	if r.TokenFile != "" {
		if token, err = keys.ReadSecret(r.TokenFile); err != nil {
			return cfg, fmt.Errorf("reading the token: %w", err)
		}
	}
	cfg.Token = strings.TrimSpace(string(token.Bytes())) // a file may end with several lines, or in CR
	if r.ClientCert != "" {
		if cfg.HTTP, err = r.certified(); err != nil {
			return cfg, err
		}
	}
	switch {
	case r.Policy != "":
		text, err := term.ReadBounded(r.Policy, audit.MaxPolicyFile)
		if err != nil {
			return cfg, fmt.Errorf("reading the policy: %w", err)
		}
		cfg.Policy = string(text)
	case r.Key != "":
		if cfg.VKey, err = ReadKey("--key", r.Key); err != nil {
			return cfg, err
		}
	default:
		if cfg.Policy, err = askKeys(ctx, cfg); err != nil {
			return cfg, r.Explain(err)
		}
		fmt.Fprintf(warnings, "shuffled: warning: key not pinned: the answers are checked under the key that the daemon itself names; --key pins a key\n")
	}
	return cfg, nil
}

// certified returns an HTTP client that shows the certificate.
func (r *Flags) certified() (*http.Client, error) {
	chain, err := os.ReadFile(r.ClientCert)
	if err != nil {
		return nil, fmt.Errorf("reading the client certificate: %w", err)
	}
	key, err := keys.ReadSecret(r.ClientKey)
	if err != nil {
		return nil, fmt.Errorf("reading the client certificate's key: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, key.Bytes())
	if err != nil {
		return nil, term.Usage("--client-cert, --client-key: %s", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}, nil // as the client's own
}

// askKeys returns a policy with all signing keys that the daemon names for the ledger: a receipt from before a
// rotation is signed by an older key.
func askKeys(ctx context.Context, cfg client.Config) (string, error) {
	// A client needs a key. This one is nobody's, and nothing is asked that it would have to vouch for.
	nobody, err := keys.GenerateSigning("nobody")
	if err != nil {
		return "", err
	}
	cfg.VKey = nobody.VKey()
	c, err := client.New(cfg)
	if err != nil {
		return "", term.Usage("%s", term.Visible(err.Error()))
	}
	answer, err := c.SaidKeys(ctx)
	if err != nil {
		return "", err
	}
	policy := ""
	for _, k := range answer.Keys {
		if k.Vkey == nil {
			continue
		}
		if _, err := audit.ParseVKey(*k.Vkey); err != nil {
			return "", fmt.Errorf("the daemon names a signing key that is not valid: %w", err)
		}
		policy += "log " + *k.Vkey + "\n"
	}
	if policy == "" {
		return "", errors.New("the daemon names no signing key")
	}
	return policy + "quorum none\n", nil
}

// Given returns nil for the zero value: a flag that is not given.
func Given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Value returns what p points to, or the zero value for nil.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Advice is what to do about a refusal, by its code.
var Advice = map[client.Code]string{
	client.CodeUnauthorized: "give the token with --token-file FILE or SHUFFLED_TOKEN",
	client.CodeNoSuchLedger: "--ledger NAME names the ledger",
	client.CodePlace:        "`shuffled show ID` tells the next place",
	client.CodeMix:          "`shuffled mix ID` must reveal all values of the plan, in the plan's order; `shuffled show ID` lists the plan",
}

// Explain makes an error of the client one for people. Text of the daemon is not trusted.
func (r *Flags) Explain(err error) error {
	shown := errors.New(term.Visible(err.Error()))
	var refused *client.Error
	var fault *client.Fault
	var dial *net.OpError
	switch {
	case errors.As(err, &fault):
		if strings.HasSuffix(fault.What, doneBefore) {
			return &lie{error: shown, hint: "if this command was tried before, --again accepts the answer of that time; if not, deal nothing from this answer"}
		}
		return &lie{error: shown, hint: "deal nothing from this answer; check that --key is the ledger's own key, and if the signing key changed, pin both: --policy FILE with a log line for each"}
	case errors.As(err, &refused):
		shown = term.WithCode(errors.New(term.Visible(refused.Error())), string(refused.Code)) // without method and path
		if refused.Code == client.CodeInvalidValue || refused.Code == client.CodeInvalidRequest {
			return term.WithCode(term.Usage("%s", shown), string(refused.Code))
		}
		named := r.TokenFile != "" || r.ClientCert != "" || os.Getenv(tokenVariable) != "" // a token or certificate
		if hint := Advice[refused.Code]; hint != "" && (refused.Code != client.CodeUnauthorized || !named) {
			return term.WithHint(shown, "%s", hint)
		}
	case errors.Is(err, http.ErrSchemeMismatch):
		return term.WithHint(shown, "the daemon speaks http without TLS: --url, or SHUFFLED_URL, must begin with http://")
	case errors.As(err, &dial):
		return term.WithHint(shown, "is a daemon running at %s? `shuffled serve --dev` starts one", term.Visible(r.URL))
	}
	return shown
}

// Call connects to the daemon and makes one call.
func Call[T any](ctx context.Context, r *Flags, s term.Streams, call func(*client.Client) (T, error)) (T, error) {
	d, err := r.Connect(ctx, s)
	if err != nil {
		return *new(T), err
	}
	answer, err := call(d)
	if err != nil {
		err = r.Fail(s, err)
	}
	return answer, err
}

// Ask makes one call to the daemon and shows the answer, as JSON with --json.
func Ask[T any](ctx context.Context, r *Flags, s term.Streams, call func(*client.Client) (T, error),
	show func(T) error) error {
	answer, err := Call(ctx, r, s, call)
	if err != nil {
		return err
	}
	if r.JSON {
		return term.PrintJSON(s.Out, answer)
	}
	return show(answer)
}

// Record asks for an entry, and says what was done and which entry it is.
func (r *Flags) Record(ctx context.Context, s term.Streams, done string,
	call func(*client.Client) (*client.Appended, error)) error {
	return Ask(ctx, r, s, call, func(entry *client.Appended) error {
		_, err := fmt.Fprintf(s.Out, "%s.\nEntry %d of ledger %s, recorded and signed.\n", done, entry.Index, r.Ledger)
		return err
	})
}

// lie is an answer whose evidence does not hold.
type lie struct {
	error
	hint string
}

// doneBefore ends the client's words for an answer that is older than the question.
const doneBefore = "before this client asked for it"

func (l *lie) Is(target error) bool { return target == term.ErrFails }

// Fail explains err. A lie it also prints, because term.Report does not print evidence that fails.
func (r *Flags) Fail(s term.Streams, err error) error {
	err = r.Explain(err)
	if l, ok := errors.AsType[*lie](err); ok {
		fmt.Fprintf(s.Err, "shuffled: error: %s\nshuffled: hint: %s\n", err, l.hint)
	}
	return err
}

// ReadKey returns a verifier key (name+hash+base64): the argument itself, or what the file of this name has.
// flag is for errors.
func ReadKey(flag, arg string) (string, error) {
	if strings.Count(arg, "+") >= 2 {
		if _, err := os.Stat(arg); err != nil {
			if _, err := audit.ParseVKey(arg); err != nil {
				return "", term.Usage("%s: %s", flag, term.Visible(err.Error()))
			}
			return arg, nil
		}
	}
	if _, err := os.Stat(arg); err != nil {
		return "", term.WithHint(fmt.Errorf("reading the key: %w", err),
			"%s takes a verifier key (name+hash+base64) or a file with one", flag)
	}
	vkey, err := keys.ReadVKey(arg)
	if err != nil {
		return "", term.Usage("%s: %s; give a .vkey file, because a .key file is its owner's secret", flag,
			term.Visible(err.Error()))
	}
	return vkey, nil
}
