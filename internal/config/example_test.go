package config

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

const examplePath = "../../configs/shuffled.example.toml"

func readExample(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestExampleIsDefault loads the example as the daemon does. Apart from its one
// ledger it must be what an empty file gives.
func TestExampleIsDefault(t *testing.T) {
	got, err := Load(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.SealingKeys, want.OperatorHosts = []string{}, []string{} // written out
	want.Beacon.Relays, want.Witness = []string{}, Witness{Hosts: []string{}, Intervals: []string{}}
	want.Ledgers = []Ledger{{Name: "main", SigningKeys: []string{}, Decks: []string{}, Houses: []string{},
		CoDealers: []string{}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the example is not the default (-want +got):\n%s", diff)
	}
	empty, err := Parse("empty", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), empty); diff != "" {
		t.Errorf("an empty file is not the default (-want +got):\n%s", diff)
	}
	if err := Default().Validate(); err != nil {
		t.Errorf("the default is not valid: %v", err)
	}
}

// settings returns the dotted key of every setting below a struct type.
func settings(t *testing.T, typ reflect.Type, prefix string) []string {
	t.Helper()
	var keys []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		tag := f.Tag.Get("toml")
		if !f.IsExported() || !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(tag) {
			t.Errorf("%s.%s: no setting of the file (%q)", typ, f.Name, tag)
		}
		switch {
		case f.Type.Kind() == reflect.Struct:
			keys = append(keys, settings(t, f.Type, prefix+tag+".")...)
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			keys = append(keys, settings(t, f.Type.Elem(), prefix+tag+".")...)
		default:
			keys = append(keys, prefix+tag)
		}
	}
	return keys
}

// TestExampleNamesEverySetting: each field of the struct is set in the example,
// under a comment that names its default and its danger.
func TestExampleNamesEverySetting(t *testing.T) {
	line := regexp.MustCompile(`^([a-z0-9_]+) = (.*)$`)
	table := regexp.MustCompile(`^\[\[?([a-z]+)\]\]?$`)
	described := map[string]string{} // setting → its comment
	prefix, comment := "", ""
	for _, l := range strings.Split(string(readExample(t)), "\n") {
		switch {
		case strings.HasPrefix(l, "#"):
			comment += strings.TrimPrefix(l, "#")
		case table.MatchString(l):
			prefix, comment = table.FindStringSubmatch(l)[1]+".", ""
		case line.MatchString(l):
			described[prefix+line.FindStringSubmatch(l)[1]] = comment
			comment = ""
		case l == "":
			comment = ""
		default:
			t.Errorf("neither comment, table nor setting: %q", l)
		}
	}
	want := settings(t, reflect.TypeFor[Config](), "")
	if len(want) < 30 {
		t.Fatalf("only %d settings found", len(want))
	}
	for _, key := range want {
		comment, ok := described[key]
		if !ok {
			t.Errorf("%s is not in the example", key)
			continue
		}
		for _, word := range []string{" Default: ", " Danger: "} {
			if !strings.Contains(comment, word) {
				t.Errorf("the comment on %s lacks%s", key, word)
			}
		}
		delete(described, key)
	}
	for key := range described {
		t.Errorf("%s is in the example and is no setting", key)
	}
}

// TestExampleCommentsAgree: where the comment names a default that is a value, it is the value below it.
func TestExampleCommentsAgree(t *testing.T) {
	pattern := regexp.MustCompile(`Default: ([0-9]+[A-Za-z]*|info|text|\./shuffled-data)\.\n(?:#.*\n)*([a-z_]+) = (.*)\n`)
	found := 0
	for _, m := range pattern.FindAllStringSubmatch(string(readExample(t)), -1) {
		value := strings.TrimSuffix(strings.Trim(m[3], `"`), ".0")
		if value != m[1] {
			t.Errorf("%s: the comment says %s, the value is %s", m[2], m[1], value)
		}
		found++
	}
	if found < 18 {
		t.Errorf("only %d defaults found in comments", found)
	}
}

// TestRoundTrip: every setting survives writing and reading.
func TestRoundTrip(t *testing.T) {
	c := different(t)
	b, err := toml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("written", b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}

// different returns a valid configuration in which no setting is the default.
func different(t *testing.T) *Config {
	t.Helper()
	c, err := Parse("different.toml", []byte(`
listen = "[::1]:443"
operator_listen = "10.0.0.1:9"
operator_hosts = ["ops.example.com", "metrics.example.com"]
data = "/var/lib/shuffled"
database = "postgres://writer@db.example.org:5432/shuffled?sslmode=verify-full"
database_password_file = "/run/credentials/password"
database_pooler = true
sealing_keys = ["/keys/new", "/keys/old"]
passphrase_file = "/keys/passphrase"
clock_step = "1m30s"
mark_sync = "250ms"
disclosure_rotation = "12h"
shutdown_delay = "15s"
memory_limit = "2GiB"
statistics = "halt"
retention = "26280h"
access_retention = "43800h"
log = { level = "debug", format = "json" }
[tls]
cert = "/tls/cert.pem"
key = "/tls/key.pem"
client_ca = "/tls/ca.pem"
[beacon]
relays = ["https://one.example.org", "http://127.0.0.1:9/relay/"]
[witness]
hosts = ["w.example.org", "[::1]:8443"]
intervals = ["w.example.org/w1 1m", "w.example.org/w2 1h"]
[limits]
max_body = "65536B"
max_verify_body = "64MiB"
connections = 3
concurrency = 1
waiting = 2
witness_waiting = 4
followers = 8
token_followers = 3
verifications = 2
readers = 6
tile_cache = "1MiB"
queue = 1024
co_dealer_asks = 7
co_dealer_orders = 0
token_rate = 1000
token_burst = 1
read_rate = 0.0
read_burst = 7
read_bytes = "0B"
read_bytes_all = "1GiB"
verify_rate = 0.5
verify_burst = 3
unknown_rate = 1.5
unknown_burst = 5
patience = "20ms"
request_timeout = "100ms"
read_header_timeout = "10m"
read_timeout = "1s"
write_timeout = "2s"
idle_timeout = "3s"
[[ledger]]
name = "roulette.nl"
database = "postgres://writer@other.example.org/shuffled"
database_password_file = "/run/credentials/other"
database_pooler = true
signing_key = "/keys/nl"
signing_keys = ["/keys/nl-2", "/keys/nl-3"]
mark = "/marks/nl"
decks = ["shoe-8", "O8RZTaSaMwmO86IiR3nBl2MeJF2ZQLT5knAk3SmFBn4="]
houses = ["/houses/a.policy", "/houses/b.policy"]
co_dealers = ["lab.example.org/orders https://lab.example.org/v1/orders /keys/lab.token",
  "b.example.org/o http://127.0.0.1:9/v1/o /keys/b.token"]
[[ledger]]
name = "B-2_x"
signing_keys = []
decks = []
houses = []
co_dealers = []
`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEverySettingIsRead: no setting of different is still the default, so none
// is read into the wrong field or not at all.
func TestEverySettingIsRead(t *testing.T) {
	var walk func(path string, a, b reflect.Value)
	walk = func(path string, a, b reflect.Value) {
		if a.Kind() == reflect.Struct {
			for i := range a.NumField() {
				walk(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
			}
			return
		}
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			t.Errorf("%s is the default", path)
		}
	}
	c := different(t)
	walk("Config", reflect.ValueOf(*Default()), reflect.ValueOf(*c))
	if len(c.Ledgers) != 2 || !reflect.DeepEqual(c.Ledgers[0],
		Ledger{"roulette.nl", "postgres://writer@other.example.org/shuffled", "/run/credentials/other", true,
			"/keys/nl", []string{"/keys/nl-2", "/keys/nl-3"}, "/marks/nl",
			[]string{"shoe-8", "O8RZTaSaMwmO86IiR3nBl2MeJF2ZQLT5knAk3SmFBn4="}, []string{"/houses/a.policy", "/houses/b.policy"},
			[]string{"lab.example.org/orders https://lab.example.org/v1/orders /keys/lab.token",
				"b.example.org/o http://127.0.0.1:9/v1/o /keys/b.token"}}) ||
		c.Limits.MaxBody != 65536 {
		t.Errorf("%+v", c)
	}
	if !bytes.Contains(readExample(t), []byte("[[ledger]]")) {
		t.Error("no ledger in the example")
	}
}
