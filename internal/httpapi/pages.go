package httpapi

import _ "embed"

//go:embed openapi.yaml
var contract []byte

//go:embed home.html
var home []byte

// GetContract answers with the contract.
func (s *Server) GetContract(c *call) error {
	return c.write("application/yaml", "public, max-age=60", contract)
}

// GetHome answers with a page for people. It needs no script and no style, so
// the browser is told to allow none.
func (s *Server) GetHome(c *call) error {
	c.w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	c.w.Header().Set("Referrer-Policy", "no-referrer")
	return c.write("text/html; charset=utf-8", "public, max-age=60", home)
}
