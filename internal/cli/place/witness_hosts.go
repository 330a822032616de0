package place

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/outbound"
)

// mayAsk lets the daemon ask witnesses only at hosts that an operator named: in the
// policy with which the ledger was created, or in the configuration. Policies that
// came later are an administrator's, over the API.
func mayAsk(hosts []string, g *audit.Genesis, w audit.Witness) error {
	u, err := outbound.ParseURL(w.URL)
	if err != nil {
		return fmt.Errorf("its address %w", err)
	}
	at := outbound.Authority(u)
	if slices.ContainsFunc(hosts, func(host string) bool { return names(host, u) }) {
		return nil
	}
	if first, err := audit.ParsePolicy(g.Policy); err == nil {
		for _, named := range first.Witnesses {
			if of, err := outbound.ParseURL(named.URL); err == nil && outbound.Authority(of) == at {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is neither in the policy of the ledger's first entry nor among witness.hosts of this daemon's configuration: "+
		"an operator adds it there and restarts the daemon", at)
}

// names reports whether host or host:port stands for the address; without a port it is
// that of the scheme.
func names(host string, u *url.URL) bool {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return strings.EqualFold(host, outbound.Authority(u))
	}
	bare := url.URL{Scheme: u.Scheme, Host: host}
	return outbound.Authority(&bare) == outbound.Authority(u)
}
