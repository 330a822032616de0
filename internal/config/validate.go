package config

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/near"
	"shuffled/internal/shuffle"
)

// schemeSQLite starts the address of an embedded database; a path follows.
const schemeSQLite = "sqlite:"

// Validate reports at once every setting that is out of range or contradicts another one. It opens no file. Load makes
// the same checks. Call Validate again after the flags of the command line were applied.
func (c *Config) Validate() error { return errors.Join(c.problems()...) }

// problems returns one error for each problem, in the order of the file.
func (c *Config) problems() []error {
	p := &problems{}
	p.address("listen", c.Listen)
	for _, name := range c.OperatorHosts {
		if name == "" || strings.ContainsAny(name, ":/ ") {
			p.add("operator_hosts", "must have names of hosts without a port, not %q", name)
		}
	}
	if c.OperatorListen != "" {
		p.address("operator_listen", c.OperatorListen)
		if c.OperatorListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
			p.add("operator_listen", "must be another address than that of the API")
		}
	}
	if c.Data == "" {
		p.add("data", "must name a directory")
	}
	checkDatabase(p, "", c)
	p.distinct("sealing_keys", c.SealingKeys)
	p.duration("clock_step", c.ClockStep, 100*time.Millisecond, time.Hour)
	p.duration("mark_sync", c.MarkSync, time.Millisecond, time.Second)
	p.duration("disclosure_rotation", c.DisclosureRotation, time.Minute, 8760*time.Hour)
	p.duration("shutdown_delay", c.ShutdownDelay, 0, time.Minute)
	if c.MemoryLimit != 0 {
		p.size("memory_limit", c.MemoryLimit, 64<<20, 64<<40)
	}
	p.oneOf("statistics", c.Statistics, StatisticsWarn, StatisticsHalt)
	p.retention("retention", c.Retention)
	p.retention("access_retention", c.AccessRetention)
	p.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	p.oneOf("log.format", c.Log.Format, "text", "json")
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		p.add("tls", "must have both cert and key, or neither")
	}
	if c.TLS.ClientCA != "" && c.TLS.Cert == "" {
		p.add("tls.client_ca", "must come with cert and key")
	}
	p.servers("beacon.relays", c.Beacon.Relays)
	c.Witness.check(p)
	c.Limits.check(p)
	c.checkLedgers(p)
	return p.all
}

// checkDatabase checks the database of the settings, whose names begin with the prefix.
func checkDatabase(p *problems, prefix string, c *Config) {
	path, sqlite := c.SQLite()
	switch {
	case c.Database == "": // the default
	case sqlite:
		if path == "" {
			p.add(prefix+"database", "must have a path after sqlite:")
		}
	default:
		// The error of url.Parse holds the address, and that may hold a password.
		u, err := url.Parse(c.Database)
		if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
			p.add(prefix+"database", "must be postgres://… or sqlite:PATH")
		}
	}
	if c.DatabasePasswordFile != "" && (c.Database == "" || sqlite) {
		p.add(prefix+"database_password_file", "must be left out: only a postgres:// database has a password")
	}
	if c.DatabasePooler && (c.Database == "" || sqlite) {
		p.add(prefix+"database_pooler", "must be left out: only a postgres:// database has a pooler")
	}
}

// servers checks addresses of other hosts' servers, and returns those that are well formed.
func (p *problems) servers(key string, list []string) (good []*url.URL) {
	p.distinct(key, list)
	for _, address := range list {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
			u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			p.add(key, "must hold http or https addresses without a password or a query") // u may hold a password
			continue
		}
		good = append(good, u)
	}
	return good
}

// answering checks addresses of servers whose answers the daemon acts on. Nobody on the way may forge an answer, so
// http is for this host only.
func (p *problems) answering(key string, list []string) {
	for _, u := range p.servers(key, list) {
		if u.Scheme == "https" || u.Hostname() == "localhost" {
			continue
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
			p.add(key, "must hold https addresses: http is only for this host, as http://127.0.0.1:9000, not for %s", u.Host)
		}
	}
}

func (w *Witness) check(p *problems) {
	p.distinct("witness.hosts", w.Hosts)
	for _, host := range w.Hosts {
		u, err := url.Parse("//" + host)
		if err != nil || u.Host != host || u.Hostname() == "" || strings.HasSuffix(host, ":") {
			p.add("witness.hosts", "must hold hosts or host:port, as w.example.org or 192.0.2.7:8080, without a scheme or a path")
		}
	}
	var names []string
	for _, text := range w.Intervals {
		name, every, err := ParseInterval(text)
		if err != nil {
			p.add("witness.intervals", "%s", err)
			continue
		}
		names = append(names, name)
		p.duration("witness.intervals", every, time.Second, 24*time.Hour)
	}
	p.distinct("witness.intervals", names)
}

// ParseInterval reads one of Witness.Intervals.
func ParseInterval(text string) (name string, every Duration, err error) {
	words := strings.Fields(text)
	if len(words) != 2 || strings.Contains(words[0], "+") {
		return "", 0, errors.New(`must have two words each: the name of a witness's key and a duration, as "w.example.org/w1 1m"`)
	}
	err = every.UnmarshalText([]byte(words[1]))
	return words[0], every, err
}

// Every returns the intervals by name, of a configuration that was checked.
func (w *Witness) Every() map[string]time.Duration {
	all := make(map[string]time.Duration)
	for _, text := range w.Intervals {
		if name, every, err := ParseInterval(text); err == nil {
			all[name] = every.Duration()
		}
	}
	return all
}

// check: a count is at least 1, a rate a finite number, a time from 100ms to 10m, except where it says otherwise.
func (l *Limits) check(p *problems) {
	least := map[string]int{"connections": 2, "followers": 2, "queue": 1024, "co_dealer_orders": 0} // queue: a batch
	shortest := map[string]time.Duration{"patience": 10 * time.Millisecond}
	sizes := map[string][2]Size{"max_body": {64 << 10, 64 << 20}, "max_verify_body": {64 << 10, 64 << 20},
		"tile_cache": {1 << 20, 64 << 30}, "read_bytes": {0, 1 << 40}, "read_bytes_all": {0, 1 << 40}}
	for field, v := range reflect.ValueOf(l).Elem().Fields() {
		name := field.Tag.Get("toml")
		key := "limits." + name
		switch v := v.Interface().(type) {
		case int:
			low, other := least[name]
			if !other {
				low = 1
			}
			if v < low {
				p.add(key, "must be at least %d, not %d", low, v)
			}
		case float64:
			if !(v >= 0 && v <= math.MaxInt32) { // NaN fails both
				p.add(key, "must be a number per second, or 0 for no limit, not %v", v)
			}
		case Size:
			p.size(key, v, sizes[name][0], sizes[name][1])
		case Duration:
			p.duration(key, v, cmp.Or(shortest[name], 100*time.Millisecond), 10*time.Minute)
		}
	}
}

func (c *Config) checkLedgers(p *problems) {
	names, signing, marks := []string{}, []string{}, []string{}
	for i, l := range c.Ledgers {
		if audit.CheckName(l.Name) != nil {
			p.add(fmt.Sprintf("ledger %d: name", i+1),
				"must be 1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit, not %q", l.Name)
		} else {
			names = append(names, l.Name)
		}
		if l.SigningKey != "" {
			signing = append(signing, l.SigningKey)
		}
		signing = append(signing, l.SigningKeys...)
		if l.Mark != "" {
			marks = append(marks, l.Mark)
		}
		checkDatabase(p, "ledger: ", &Config{Database: l.Database, DatabasePasswordFile: l.DatabasePasswordFile,
			DatabasePooler: l.DatabasePooler})
		for _, other := range append([]Ledger{{Database: c.Database, DatabasePasswordFile: c.DatabasePasswordFile,
			DatabasePooler: c.DatabasePooler}}, c.Ledgers[:i]...) {
			if l.Database != "" && l.Database == other.Database &&
				(l.DatabasePasswordFile != other.DatabasePasswordFile || l.DatabasePooler != other.DatabasePooler) {
				// The message leaves out the address, which may hold a password.
				p.add("ledger: database", "of %s is given twice, with different password files or poolers: both must be the same",
					l.Name)
			}
		}
		p.decks(l.Decks)
		p.distinct("ledger: houses", l.Houses)
		p.coDealers(l.CoDealers)
	}
	p.distinct("ledger: name", names)
	p.distinct("ledger: signing_key, signing_keys", signing) // a key's name is one ledger's origin
	p.distinct("ledger: mark", marks)
}

// decks checks the names and hashes of decks.
func (p *problems) decks(list []string) {
	p.distinct("ledger: decks", list)
	for _, name := range list {
		_, published := shuffle.Named(name)
		hash, err := base64.StdEncoding.DecodeString(name)
		if !published && name != "any" && (err != nil || len(hash) != 32) {
			p.add("ledger: decks", "must hold names of published decks, hashes of decks in base64, or any, and not %q.%s", name,
				near.Hint(name, shuffle.Names()))
		}
	}
}

// CoDealer is where a co-dealer is reached.
type CoDealer struct {
	Origin    string // of its ledger
	URL       string // of the daemon
	Ledger    string // the name of its ledger in addresses
	TokenFile string // of a token of the role blind
}

// ParseCoDealer reads one of Ledger.CoDealers.
func ParseCoDealer(text string) (c CoDealer, err error) {
	words := strings.Fields(text)
	if len(words) != 3 {
		return c, errors.New("must have three words each: origin, address and token file")
	}
	c.Origin, c.TokenFile = words[0], words[2]
	if err := audit.CheckOrigin(c.Origin); err != nil {
		return c, fmt.Errorf("must begin with the origin of a ledger, which %w", err)
	}
	url, name, ok := strings.Cut(words[1], "/v1/")
	if c.URL, c.Ledger = url, name; !ok || audit.CheckName(name) != nil {
		return c, errors.New("must have the address of a ledger, such as https://lab.example.org/v1/orders")
	}
	return c, nil
}

// coDealers checks Ledger.CoDealers. A token goes with each request, so http is for this host only.
func (p *problems) coDealers(list []string) {
	var origins, addresses []string
	for _, text := range list {
		c, err := ParseCoDealer(text)
		if err != nil {
			p.add("ledger: co_dealers", "%s", err)
			continue
		}
		origins, addresses = append(origins, c.Origin), append(addresses, c.URL)
	}
	p.distinct("ledger: co_dealers", origins)
	p.answering("ledger: co_dealers", addresses)
}

// withoutPassword returns the address of a postgres:// database without the password, which can be in two places. It
// returns any other address unchanged.
func withoutPassword(database string) string {
	u, err := url.Parse(database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return database
	}
	_, inUser := u.User.Password()
	query := u.Query()
	if !inUser && !query.Has("password") {
		return database
	}
	if inUser {
		u.User = url.User(u.User.Username())
	}
	if query.Has("password") {
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	return u.String()
}

// problems collects problems, each as a sentence about a setting.
type problems struct{ all []error }

func (p *problems) add(key, format string, args ...any) {
	text := fmt.Sprintf("%q "+format, append([]any{key}, args...)...)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	p.all = append(p.all, errors.New(text))
}

func (p *problems) address(key, s string) {
	_, port, err := net.SplitHostPort(s)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || strconv.FormatUint(n, 10) != port {
		p.add(key, "must be HOST:PORT, not %q", s)
	}
}

// retention accepts 0, for no end.
func (p *problems) retention(key string, d Duration) {
	if d != 0 {
		p.duration(key, d, time.Hour, 876_000*time.Hour)
	}
}

func (p *problems) duration(key string, d Duration, low, high time.Duration) {
	if d.Duration() < low || d.Duration() > high {
		p.add(key, "must be from %v to %v, not %v", plain(low), plain(high), plain(d.Duration()))
	}
}

// plain returns d without its last parts that are zero: 1h, not 1h0m0s.
func plain(d time.Duration) string {
	s := strings.Replace(d.String(), "m0s", "m", 1)
	return strings.Replace(s, "h0m", "h", 1)
}

func (p *problems) size(key string, s, low, high Size) {
	if s < low || s > high {
		p.add(key, "must be from %v to %v, not %v", low, high, s)
	}
}

func (p *problems) oneOf(key, s string, words ...string) {
	if !slices.Contains(words, s) {
		p.add(key, "must be one of %s, not %q.%s", strings.Join(words, ", "), s, near.Hint(s, words))
	}
}

// distinct reports values that are empty or occur twice.
func (p *problems) distinct(key string, values []string) {
	seen := map[string]bool{}
	for _, v := range values {
		switch {
		case v == "":
			p.add(key, "must not hold an empty value")
		case seen[v]:
			p.add(key, "must not hold %q twice", v)
		}
		seen[v] = true
	}
}
