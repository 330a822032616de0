package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/trust"
	"shuffled/internal/verify"
	"shuffled/web"
)

//go:embed openapi.yaml
var contract []byte

//go:embed errors.html
var errorsTemplate string

// errorsPage is the page that the type of every problem is an address on.
var errorsPage = sync.OnceValue(func() static {
	var page bytes.Buffer
	if err := template.Must(template.New("").Parse(errorsTemplate)).Execute(&page, problems); err != nil {
		panic(err) // a template of our own, in memory
	}
	return pack("text/html; charset=utf-8", page.Bytes())
})

var (
	home         = sync.OnceValue(func() static { return pack("text/html; charset=utf-8", web.Page) })
	contractPage = sync.OnceValue(func() static { return pack("application/yaml", contract) })
)

// static is an answer that never changes, as it is and compressed, with its entity tag (RFC 9110 section 8.8.3).
type static struct {
	mediaType, tag string
	plain, packed  []byte
}

func pack(mediaType string, body []byte) static {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // no error: there is this level
	_, err := w.Write(body)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // in memory
	}
	sum := sha256.Sum256(body)
	return static{mediaType, base64.RawURLEncoding.EncodeToString(sum[:16]), body, b.Bytes()}
}

// takesGzip reports whether the caller takes gzip, and tells caches that the answer depends on it.
func (c *call) takesGzip() bool {
	c.w.Header().Set("Vary", "Accept-Encoding")
	takes := strings.ReplaceAll(c.r.Header.Get("Accept-Encoding"), " ", "")
	if !strings.Contains(takes, "gzip") || strings.Contains(takes, "gzip;q=0") { // as it is serves any other wish, too
		return false
	}
	c.w.Header().Set("Content-Encoding", "gzip")
	return true
}

// static answers with s, compressed if the caller takes gzip. The two forms have two tags.
func (c *call) static(s static) error {
	const cache = "public, max-age=60"
	h, body, tag := c.w.Header(), s.plain, `"`+s.tag+`"`
	if c.takesGzip() {
		body, tag = s.packed, `"`+s.tag+`-gzip"`
	}
	h.Set("ETag", tag)
	if c.r.Header.Get("If-None-Match") == tag {
		h.Set("Cache-Control", cache)
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return c.write(s.mediaType, cache, body)
}

// GetErrors answers with the page that explains the codes.
func (s *Server) GetErrors(c *call) error {
	c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	return c.static(errorsPage())
}

// guard has a browser run the scripts of the policy alone, keep a page apart from others, and turn off its features
// that no page of this daemon uses.
func guard(h http.Header, policy, camera string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera="+camera+
		", display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()")
	h.Set("Referrer-Policy", "no-referrer")
}

// GetContract answers with the contract.
func (s *Server) GetContract(c *call) error { return c.static(contractPage()) }

// GetHome answers with the page that verifies, for people. The browser is told
// to run its own two scripts and no other, and to ask this server and no other.
func (s *Server) GetHome(c *call) error {
	guard(c.w.Header(), web.Policy, "(self)") // a camera reads the QR code of a key
	return c.static(home())
}

// Verify answers with the verdict on a transcript or a receipt. It needs neither the
// sequencer nor the store, and answers while they do not.
func (s *Server) Verify(c *call) error {
	want := "application/json"
	if mediaType(c.r) == "text/plain" {
		want = "text/plain"
	}
	if err := checkMedia(c.r, want); err != nil {
		return err
	}
	// Evidence is large, and to judge it is work. Each has a limit of its own, so that slow
	// uploads do not keep verifications from starting, nor one address all others.
	from := remote(c.r)
	if !s.uploads.try(from, 1) {
		return refuse(CodeOverloaded)
	}
	defer s.uploads.leave(from)
	evidence, err := readBody(c.r)
	if err != nil {
		return err
	}
	if !s.verifying.TryAcquire(1) {
		return refuse(CodeOverloaded)
	}
	defer s.verifying.Release(1)
	verdict := verify.File(evidence, s.trust(evidence))
	// The standard library leaves empty members out, as `shuffled verify --json` does: one verdict, one form.
	body, err := json.Marshal(verdict)
	if err != nil {
		return fmt.Errorf("writing the verdict: %w", err)
	}
	return c.write("application/json", noStore, append(body, '\n'))
}

// trust is trust in the signing keys of our ledger that the evidence is of, except those that were retired. Evidence of
// any other ledger is judged without a key, and the verdict says so.
func (s *Server) trust(evidence []byte) verify.Trust {
	origin, smallest := claimed(evidence)
	ledgers, _, _ := s.ledgers.all()
	for _, l := range ledgers {
		if l.Log.Info().Origin == origin {
			return trustIn(smallest, l.Log.KeyHistory())
		}
	}
	return verify.Trust{}
}

// maxLogs is how many keys a policy names at most (docs/SPEC.md section 7.3).
const maxLogs = 64

// trustIn returns trust in the signing keys of a history that were not retired; if they are more than maxLogs, in the
// first and the newest. A trusted key of ML-DSA-44 must have signed every checkpoint (docs/SPEC.md section 10.1.1), so
// it is left out if the smallest checkpoint is from before its entry.
func trustIn(smallest uint64, keys *trust.History) verify.Trust {
	var vkeys []string
	for _, k := range keys.Signing {
		if k.Retired || k.Key == nil || audit.IsMLDSA(k.Key) && k.Index >= smallest {
			continue
		}
		vkey, _ := audit.VKey(keys.Origin, k.Public) // k.Key was made of it
		vkeys = append(vkeys, vkey)
	}
	if len(vkeys) == 1 {
		return verify.Trust{VKey: vkeys[0]}
	}
	// The first is followed to the others by a transcript's own hand-overs; a
	// receipt alone has none, and most are under newer keys.
	if n := len(vkeys); n > maxLogs {
		vkeys = append(vkeys[:1], vkeys[n-maxLogs+1:]...)
	}
	return verify.Trust{Policy: []byte("log " + strings.Join(vkeys, "\nlog ") + "\nquorum none\n")}
}

// claimed returns the origin that a transcript or a receipt claims, "" for none, and the
// size of its smallest checkpoint.
func claimed(evidence []byte) (origin string, smallest uint64) {
	var signed []string
	// The first byte decides what the file is (docs/SPEC.md section 10), and not the media type.
	if strings.HasPrefix(string(evidence), "{") {
		t, err := openings.ParseTranscript(evidence)
		if err != nil {
			return "", 0
		}
		if signed = append(signed, t.Checkpoint); t.Witnessed != nil {
			signed = append(signed, t.Witnessed.Checkpoint)
		}
	} else if r, err := audit.ParseReceipt(string(evidence)); err == nil {
		signed = append(signed, string(r.Checkpoint))
	}
	for i, one := range signed {
		c, err := audit.CheckpointText([]byte(one))
		if err != nil {
			return "", 0
		}
		if i == 0 {
			origin, smallest = c.Origin, c.Size
		}
		smallest = min(smallest, c.Size)
	}
	return origin, smallest
}
