package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		key    string // at fault, "" for a good value
		change func(*Config)
	}{
		{"listen", func(c *Config) { c.Listen = "" }},
		{"listen", func(c *Config) { c.Listen = "localhost" }},
		{"listen", func(c *Config) { c.Listen = "127.0.0.1:http" }},
		{"listen", func(c *Config) { c.Listen = "127.0.0.1:65536" }},
		{"listen", func(c *Config) { c.Listen = "127.0.0.1:080" }},
		{"listen", func(c *Config) { c.Listen = "127.0.0.1:" }},
		{"listen", func(c *Config) { c.Listen = "::1:80" }},
		{"", func(c *Config) { c.Listen = ":65535" }},
		{"", func(c *Config) { c.Listen = "[::]:0" }},
		{"operator_listen", func(c *Config) { c.OperatorListen = "9090" }},
		{"operator_hosts", func(c *Config) { c.OperatorHosts = []string{"a.example.com:9090"} }},
		{"operator_listen", func(c *Config) { c.OperatorListen = c.Listen }},
		{"", func(c *Config) { c.OperatorListen = "" }},
		{"", func(c *Config) { c.Listen, c.OperatorListen = "127.0.0.1:0", "127.0.0.1:0" }},
		{"data", func(c *Config) { c.Data = "" }},
		{"database", func(c *Config) { c.Database = "mysql://db" }},
		{"database", func(c *Config) { c.Database = "shuffled.db" }},
		{"database", func(c *Config) { c.Database = "sqlite:" }},
		{"database", func(c *Config) { c.Database = "postgres//db" }},
		{"", func(c *Config) { c.Database = "sqlite:x.db" }},
		{"", func(c *Config) { c.Database = "postgres:///shuffled?host=/run/postgresql" }},
		{"", func(c *Config) { c.Database, c.DatabasePasswordFile = "postgresql://u@h/d", "p" }},
		{"database_password_file", func(c *Config) { c.DatabasePasswordFile = "p" }},
		{"database_password_file", func(c *Config) { c.Database, c.DatabasePasswordFile = "sqlite:x", "p" }},
		{"database_pooler", func(c *Config) { c.DatabasePooler = true }},
		{"database_pooler", func(c *Config) { c.Database, c.DatabasePooler = "sqlite:x", true }},
		{"sealing_keys", func(c *Config) { c.SealingKeys = []string{"a", "b", "a"} }},
		{"sealing_keys", func(c *Config) { c.SealingKeys = []string{""} }},
		{"", func(c *Config) { c.SealingKeys = []string{"a", "b"} }},
		{"clock_step", func(c *Config) { c.ClockStep = Duration(100*time.Millisecond - 1) }},
		{"clock_step", func(c *Config) { c.ClockStep = Duration(time.Hour + 1) }},
		{"", func(c *Config) { c.ClockStep = Duration(100 * time.Millisecond) }},
		{"", func(c *Config) { c.ClockStep = Duration(time.Hour) }},
		{"mark_sync", func(c *Config) { c.MarkSync = 0 }},
		{"mark_sync", func(c *Config) { c.MarkSync = Duration(time.Second + 1) }},
		{"", func(c *Config) { c.MarkSync = Duration(time.Millisecond) }},
		{"disclosure_rotation", func(c *Config) { c.DisclosureRotation = Duration(time.Minute - 1) }},
		{"disclosure_rotation", func(c *Config) { c.DisclosureRotation = Duration(8760*time.Hour + 1) }},
		{"", func(c *Config) { c.DisclosureRotation = Duration(time.Minute) }},
		{"", func(c *Config) { c.DisclosureRotation = Duration(8760 * time.Hour) }},
		{"memory_limit", func(c *Config) { c.MemoryLimit = 64<<20 - 1 }},
		{"memory_limit", func(c *Config) { c.MemoryLimit = -1 }},
		{"", func(c *Config) { c.MemoryLimit = 64 << 20 }},
		{"shutdown_delay", func(c *Config) { c.ShutdownDelay = -1 }},
		{"shutdown_delay", func(c *Config) { c.ShutdownDelay = Duration(time.Minute + 1) }},
		{"", func(c *Config) { c.ShutdownDelay = Duration(time.Minute) }},
		{"statistics", func(c *Config) { c.Statistics = "" }},
		{"statistics", func(c *Config) { c.Statistics = "stop" }},
		{"", func(c *Config) { c.Statistics = "halt" }},
		{"retention", func(c *Config) { c.Retention = Duration(time.Hour - 1) }},
		{"retention", func(c *Config) { c.Retention = -1 }},
		{"retention", func(c *Config) { c.Retention = Duration(876_000*time.Hour + 1) }},
		{"", func(c *Config) { c.Retention, c.AccessRetention = Duration(time.Hour), Duration(876_000*time.Hour) }},
		{"access_retention", func(c *Config) { c.AccessRetention = 1 }},
		{"", func(c *Config) {
			c.Ledgers = []Ledger{{Name: "a", CoDealers: []string{"a/o http://localhost:9000/v1/o t",
				"b/o http://127.8.0.1/v1/o t", "c/o http://[::1]:9/v1/o t", "d/o https://10.0.0.7/v1/o t"}}}
		}},
		{"log.level", func(c *Config) { c.Log.Level = "trace" }},
		{"log.level", func(c *Config) { c.Log.Level = "" }},
		{"log.format", func(c *Config) { c.Log.Format = "JSON" }},
		{"tls", func(c *Config) { c.TLS.Cert = "c" }},
		{"tls", func(c *Config) { c.TLS.Key = "k" }},
		{"tls.client_ca", func(c *Config) { c.TLS.ClientCA = "ca" }},
		{"", func(c *Config) { c.TLS = TLS{"c", "k", "ca"} }},
		{"limits.max_body", func(c *Config) { c.Limits.MaxBody = 64<<10 - 1 }},
		{"limits.max_body", func(c *Config) { c.Limits.MaxBody = 64<<20 + 1 }},
		{"", func(c *Config) { c.Limits.MaxBody = 64 << 10 }},
		{"limits.max_verify_body", func(c *Config) { c.Limits.MaxVerifyBody = 0 }},
		{"limits.concurrency", func(c *Config) { c.Limits.Concurrency = 0 }},
		{"limits.verifications", func(c *Config) { c.Limits.Verifications = -1 }},
		{"limits.queue", func(c *Config) { c.Limits.Queue = 1023 }},
		{"", func(c *Config) { c.Limits.Queue = 1024 }},
		{"limits.token_rate", func(c *Config) { c.Limits.TokenRate = -1 }},
		{"limits.token_rate", func(c *Config) { c.Limits.TokenRate = math.NaN() }},
		{"limits.token_rate", func(c *Config) { c.Limits.TokenRate = math.Inf(1) }},
		{"", func(c *Config) { c.Limits.TokenRate = 0.001 }},
		{"limits.token_burst", func(c *Config) { c.Limits.TokenBurst = 0 }},
		{"limits.waiting", func(c *Config) { c.Limits.Waiting = 0 }},
		{"limits.read_rate", func(c *Config) { c.Limits.ReadRate = -1 }},
		{"", func(c *Config) { c.Limits.ReadRate = 0 }},
		{"limits.read_burst", func(c *Config) { c.Limits.ReadBurst = 0 }},
		{"limits.verify_rate", func(c *Config) { c.Limits.VerifyRate = -0.1 }},
		{"", func(c *Config) { c.Limits.VerifyRate = 0 }},
		{"limits.verify_burst", func(c *Config) { c.Limits.VerifyBurst = 0 }},
		{"limits.request_timeout", func(c *Config) { c.Limits.RequestTimeout = 0 }},
		{"limits.read_header_timeout", func(c *Config) { c.Limits.ReadHeaderTimeout = -1 }},
		{"limits.read_timeout", func(c *Config) { c.Limits.ReadTimeout = Duration(11 * time.Minute) }},
		{"limits.write_timeout", func(c *Config) { c.Limits.WriteTimeout = Duration(99 * time.Millisecond) }},
		{"limits.idle_timeout", func(c *Config) { c.Limits.IdleTimeout = Duration(time.Hour) }},
		{"ledger 1: name", func(c *Config) { c.Ledgers = []Ledger{{}} }},
		{"ledger 2: name", func(c *Config) { c.Ledgers = []Ledger{{Name: "a"}, {Name: "a/b"}} }},
		{"ledger 1: name", func(c *Config) { c.Ledgers = []Ledger{{Name: ".hidden"}} }},
		{"ledger 1: name", func(c *Config) { c.Ledgers = []Ledger{{Name: "caf\u00e9"}} }},
		{"ledger 1: name", func(c *Config) { c.Ledgers = []Ledger{{Name: strings.Repeat("a", 65)}} }},
		{"ledger: name", func(c *Config) { c.Ledgers = []Ledger{{Name: "a"}, {Name: "b"}, {Name: "a"}} }},
		{"ledger: database", func(c *Config) { c.Ledgers = []Ledger{{Name: "a", Database: "mysql://x"}} }},
		{"ledger: database_password_file", func(c *Config) {
			c.Ledgers = []Ledger{{Name: "a", DatabasePasswordFile: "p"}}
		}},
		{"ledger: database_pooler", func(c *Config) {
			c.Ledgers = []Ledger{{Name: "a", Database: "sqlite:x", DatabasePooler: true}}
		}},
		{"ledger: database", func(c *Config) {
			c.Ledgers = []Ledger{{Name: "a", Database: "postgres://u@h/d"},
				{Name: "b", Database: "postgres://u@h/d", DatabasePooler: true}}
		}},
		{"ledger: signing_key, signing_keys", func(c *Config) {
			c.Ledgers = []Ledger{{Name: "a", SigningKey: "k"}, {Name: "b", SigningKey: "k"}}
		}},
		{"ledger: signing_key, signing_keys", func(c *Config) {
			c.Ledgers = []Ledger{{Name: "a", SigningKey: "k", SigningKeys: []string{"next", "k"}}}
		}},
		{"ledger: signing_key, signing_keys",
			func(c *Config) { c.Ledgers = []Ledger{{Name: "a", SigningKeys: []string{""}}} }},
		{"", func(c *Config) { c.Ledgers = []Ledger{{Name: "a", SigningKeys: []string{"next", "last"}}} }},
		{"ledger: mark", func(c *Config) { c.Ledgers = []Ledger{{Name: "a", Mark: "m"}, {Name: "b", Mark: "m"}} }},
		{"", func(c *Config) { c.Ledgers = []Ledger{{Name: strings.Repeat("a", 64)}, {Name: "0-9._Z"}} }},
	} {
		cfg := Default()
		c.change(cfg)
		err := cfg.Validate()
		switch {
		case c.key == "" && err != nil:
			t.Errorf("a good value is refused: %v", err)
		case c.key != "" && err == nil:
			t.Errorf("%s: accepted", c.key)
		case c.key != "" && (!strings.HasPrefix(err.Error(), `"`+c.key+`" `) ||
			strings.ContainsAny(err.Error(), "\n%")):
			t.Errorf("%s: want one problem there, got %q", c.key, err)
		}
	}
}

// TestValidateAll: every problem is reported, each on its line, in the order of the file.
func TestValidateAll(t *testing.T) {
	err := (&Config{Database: "x", TLS: TLS{ClientCA: "ca"}, Ledgers: []Ledger{{Name: "/"}}}).Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	var got []string
	for _, line := range strings.Split(err.Error(), "\n") {
		key, _, ok := strings.Cut(strings.TrimPrefix(line, `"`), `" must `)
		if !ok {
			t.Errorf("no key in %q", line)
		}
		got = append(got, key)
	}
	want := []string{"listen", "data", "database", "clock_step", "mark_sync", "disclosure_rotation", "statistics",
		"log.level", "log.format", "tls.client_ca",
		"limits.max_body", "limits.max_verify_body", "limits.connections", "limits.concurrency", "limits.waiting",
		"limits.witness_waiting", "limits.followers", "limits.token_followers",
		"limits.verifications", "limits.readers", "limits.tile_cache",
		"limits.queue", "limits.co_dealer_asks",
		"limits.token_burst", "limits.unknown_burst", "limits.read_burst",
		"limits.verify_burst", "limits.patience", "limits.request_timeout", "limits.read_header_timeout",
		"limits.read_timeout", "limits.write_timeout", "limits.idle_timeout", "ledger 1: name"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestResolve(t *testing.T) {
	c := Default()
	c.Data = "/srv/shuffled"
	c.Ledgers = []Ledger{{Name: "main"}, {Name: "nl", SigningKey: "/k", Mark: "/m"}, {Name: "be", Mark: "/b"}}
	c.Resolve()
	want := Default()
	want.Data = "/srv/shuffled"
	want.Database = "sqlite:/srv/shuffled/shuffled.db"
	want.SealingKeys = []string{"/srv/shuffled/sealing.key"}
	want.Ledgers = []Ledger{
		{Name: "main", SigningKey: "/srv/shuffled/main.key", Mark: "/srv/shuffled/main.mark"},
		{Name: "nl", SigningKey: "/k", Mark: "/m"},
		{Name: "be", SigningKey: "/srv/shuffled/be.key", Mark: "/b"},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	c.Data = "/elsewhere"
	c.Resolve()
	want.Data = "/elsewhere"
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("a second call changed something (-want +got):\n%s", diff)
	}

	c = different(t)
	c.Ledgers = c.Ledgers[:1]
	c.Resolve()
	want = different(t)
	want.Ledgers = want.Ledgers[:1]
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("what was set is changed (-want +got):\n%s", diff)
	}
}

// TestDigest: equal settings give equal digests, each change another one, and a password none.
func TestDigest(t *testing.T) {
	base := different(t)
	if base.Digest() != different(t).Digest() {
		t.Fatal("equal settings, different digests")
	}
	seen := map[[32]byte]string{base.Digest(): "unchanged"}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.Kind() == reflect.Struct {
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		}
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Float64:
			v.SetFloat(v.Float() + 1)
		case reflect.Slice:
			v.Set(v.Slice(0, 1))
		case reflect.Bool:
			v.SetBool(!v.Bool())
		default:
			t.Fatalf("%s: %s", path, v.Kind())
		}
		if other, ok := seen[base.Digest()]; ok {
			t.Errorf("%s: the digest is that of %s", path, other)
		}
		seen[base.Digest()] = path
		v.Set(before)
	}
	walk("Config", reflect.ValueOf(base).Elem())
	walk("Ledger", reflect.ValueOf(&base.Ledgers[0]).Elem())
	if len(seen) < 30 {
		t.Errorf("only %d digests", len(seen))
	}
	for _, address := range []string{"postgres://u@h/d?sslmode=disable", "postgres://u:secret@h/d?sslmode=disable",
		"postgres://u@h/d?password=secret&sslmode=disable"} {
		c := Default()
		c.Database = address
		plain := Default()
		plain.Database = "postgres://u@h/d?sslmode=disable"
		if c.Digest() != plain.Digest() {
			t.Errorf("%s: the password is in the digest", address)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"5s": 5 * time.Second, "1m30s": 90 * time.Second,
		"250ms": 250 * time.Millisecond, "0s": 0} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.Duration() != want {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "5", "5 s", "s", "5d", "five seconds", "1e3s"} {
		d := Duration(7)
		if err := d.UnmarshalText([]byte(text)); err == nil || d != 7 {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"0B": 0, "1B": 1, "1023B": 1023, "1KiB": 1024, "64KiB": 65536,
		"3MiB": 3 << 20, "2GiB": 2 << 30, "8589934591GiB": 8589934591 << 30, "64TiB": 64 << 40} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want || fmt.Sprint(s) != text {
			t.Errorf("%q: %d as %v, %v", text, int64(s), s, err)
		}
	}
	for _, text := range []string{"", "1", "B", "1kB", "1KB", "1MB", "1Mi", "1 MiB", "-1B", "+1B", "1.5MiB", "0x10B",
		"1_000B",
		"8589934592GiB", "8388608TiB", "9223372036854775808B", "99999999999999999999B", "1BKiB"} {
		s := Size(7)
		if err := s.UnmarshalText([]byte(text)); err == nil || s != 7 {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	if got := fmt.Sprint(Size(65536 + 1)); got != "65537B" {
		t.Error(got)
	}
}

// TestCredentials: every secret file is taken from the directory, except the key of the TLS
// certificate, which is read again when it changes. The line that a unit lacks is named.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"password", "sealing.key", "main.key", "main-2.key", "lab.token"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	house := func(ledger Ledger) *Config {
		c := Default()
		c.DatabasePasswordFile, c.TLS.Cert, c.TLS.Key = "/etc/a/password", "/etc/a/cert.pem", "/etc/a/key.pem"
		c.Data, c.Ledgers = "/var/lib/x", []Ledger{ledger}
		c.Resolve()
		return c
	}
	const lab = "lab.example.org/o https://lab.example.org/v1/o "
	c := house(Ledger{Name: "main", SigningKeys: []string{"/etc/b/main-2.key"},
		CoDealers: []string{lab + "/etc/b/lab.token"}})
	if err := c.Credentials(dir); err != nil {
		t.Fatal(err)
	}
	l := c.Ledgers[0]
	got := []string{c.DatabasePasswordFile, c.TLS.Key, c.SealingKeys[0], l.SigningKey, l.SigningKeys[0],
		l.CoDealers[0], c.TLS.Cert, l.Mark, c.PassphraseFile}
	want := []string{at("password"), "/etc/a/key.pem", at("sealing.key"), at("main.key"), at("main-2.key"),
		lab + at("lab.token"), "/etc/a/cert.pem", "/var/lib/x/main.mark", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for says, ledger := range map[string]Ledger{
		"/etc/b/password have the same name":            {Name: "main", DatabasePasswordFile: "/etc/b/password"},
		"add LoadCredential=main-3.key:/etc/main-3.key": {Name: "main", SigningKeys: []string{"/etc/main-3.key"}},
		"add LoadCredential=lab-2.token:/etc/lab-2":     {Name: "main", CoDealers: []string{lab + "/etc/lab-2.token"}},
	} {
		if err := house(ledger).Credentials(dir); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}
