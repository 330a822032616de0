package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"sync"

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

// static answers with s, compressed if the caller takes gzip. The two forms have two tags.
func (c *call) static(s static) error {
	const cache = "public, max-age=60"
	h, body, tag := c.w.Header(), s.plain, `"`+s.tag+`"`
	h.Set("Vary", "Accept-Encoding")
	takes := strings.ReplaceAll(c.r.Header.Get("Accept-Encoding"), " ", "")
	if strings.Contains(takes, "gzip") && !strings.Contains(takes, "gzip;q=0") { // as it is serves any other wish, too
		h.Set("Content-Encoding", "gzip")
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

// permissions turns off features of a browser that no page of this daemon uses.
const permissions = "display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()"

// GetContract answers with the contract.
func (s *Server) GetContract(c *call) error { return c.static(contractPage()) }

// GetHome answers with the page that verifies, for people. The browser is told
// to run its own two scripts and no other, and to ask this server and no other.
func (s *Server) GetHome(c *call) error {
	h := c.w.Header()
	h.Set("Content-Security-Policy", web.Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(self), "+permissions) // which reads the QR code of a key
	h.Set("Referrer-Policy", "no-referrer")
	return c.static(home())
}
