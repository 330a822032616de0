package httpapi

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"sync"

	"shuffled/web"
)

//go:embed openapi.yaml
var contract []byte

//go:embed errors.html
var errorsTemplate string

// errorsPage is the page that the type of every problem is an address on.
var errorsPage = sync.OnceValue(func() []byte {
	var page bytes.Buffer
	if err := template.Must(template.New("").Parse(errorsTemplate)).Execute(&page, problems); err != nil {
		panic(err) // a template of our own, in memory
	}
	return page.Bytes()
})

// GetErrors answers with the page that explains the codes.
func (s *Server) GetErrors(c *call) error {
	c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	return c.write("text/html; charset=utf-8", "public, max-age=60", errorsPage())
}

// permissions turns off features of a browser that no page of this daemon uses.
const permissions = "display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()"

// GetContract answers with the contract.
func (s *Server) GetContract(c *call) error {
	return c.write("application/yaml", "public, max-age=60", contract)
}

// GetHome answers with the page that verifies, for people. The browser is told
// to run its own two scripts and no other, and to ask this server and no other.
func (s *Server) GetHome(c *call) error {
	const cache = "public, max-age=60"
	h := c.w.Header()
	h.Set("ETag", web.ETag)
	if c.r.Header.Get("If-None-Match") == web.ETag {
		h.Set("Cache-Control", cache)
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Security-Policy", web.Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(self), "+permissions) // which reads the QR code of a key
	h.Set("Referrer-Policy", "no-referrer")
	return c.write("text/html; charset=utf-8", cache, web.Page)
}
