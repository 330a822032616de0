package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sentence is one that says where it is about.
var sentence = regexp.MustCompile(`^(f\.toml(:\d+)?: )?["A-Z].*\.$`)

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // in the error
	}{
		{"unknown key", "listen = \"127.0.0.1:1\"\n\nlisten_adress = \"x\"\n",
			[]string{"f.toml:3: There is no setting \"listen_adress\"."}},
		{"unknown in a table", "[limits]\n# a comment\nmax_bdoy = \"1MiB\"",
			[]string{`f.toml:3: There is no setting "limits.max_bdoy". The nearest is "limits.max_body".`}},
		{"unknown dotted", "limits.max_bdoy = \"1MiB\"", []string{"f.toml:1: There is no setting \"limits.max_bdoy\""}},
		{"unknown inline", "\nlog = { level = \"info\", colour = true }", []string{"f.toml:2: There is no setting \"log.colour\""}},
		{"unknown table", "\n\n[limit]\nmax_body = \"1MiB\"", []string{"f.toml:3: There is no setting \"limit\""}},
		{"unknown in a ledger", "[[ledger]]\nname = \"a\"\n[[ledger]]\nname = \"b\"\norigin = \"x\"",
			[]string{"f.toml:5: There is no setting \"ledger.origin\""}},
		{"several", "a = 1\nb = 2\n[limits]\nc = 3\n",
			[]string{"f.toml:1: There is no setting \"a\"", "f.toml:2: There is no setting \"b\"", "f.toml:4: There is no setting \"limits.c\""}},
		{"a password as key", "database_password = \"x\"", []string{"f.toml:1: There is no setting \"database_password\""}},

		{"capital", "data = \"x\"\nListen = \"127.0.0.1:1\"",
			[]string{"f.toml: There is no setting \"Listen\": names are lower-case."}},
		{"capital twice", "listen = \"127.0.0.1:1\"\nLISTEN = \"127.0.0.1:2\"",
			[]string{"f.toml: There is no setting \"LISTEN\""}},
		{"capital in a table", "[Limits]\nmax_body = \"1MiB\"", []string{"f.toml: There is no setting \"Limits\""}},
		{"capital inline", "ledger = [{ name = \"a\", Mark = \"b\" }]", []string{"f.toml: There is no setting \"Mark\""}},
		{"capital dotted", "limits.Queue = 2048", []string{"f.toml: There is no setting \"Queue\""}},
		{"folds to k", "\"mar\u212a_sync\" = \"1s\"", []string{"f.toml: There is no setting \"mar\u212a_sync\""}},
		{"empty key", "\n\"\" = 1", []string{"There is no setting"}},

		{"same key twice", "listen = \"127.0.0.1:1\"\nlisten = \"127.0.0.1:2\"", []string{"f.toml", "listen"}},
		{"same table twice", "[limits]\n[limits]", []string{"f.toml", "limits"}},
		{"no TOML", "listen = \n", []string{"f.toml:1: "}},
		{"no TOML later", "data = \"x\"\n\nlisten = 'x\n", []string{"f.toml:3: "}},
		{"not UTF-8", "data = \"\xff\"", []string{"f.toml:1: "}},
		{"wrong type", "\nlisten = 8080",
			[]string{`f.toml:2: "listen" must be a text in quotes, not TOML integer.`}},
		{"wrong type of list", "sealing_keys = \"a\"",
			[]string{`f.toml:1: "sealing_keys" must be a list of texts`}},
		{"number too large", "[limits]\nqueue = 99999999999999999999", []string{"f.toml:2: "}},
		{"fraction of a request", "[limits]\nqueue = 2048.5", []string{"f.toml:2: "}},
		{"no unit", "clock_step = \"5\"", []string{"f.toml:1: ", "unit"}},
		{"number as duration", "clock_step = 5", []string{"f.toml:1: ", "unit"}},
		{"unknown unit", "[limits]\n\nmax_body = \"1MB\"", []string{"f.toml:3: ", "KiB"}},
		{"number as size", "[limits]\nmax_body = 1048576", []string{"f.toml:2: ", "KiB"}},
		{"table for a value", "[listen]\nport = 1\n", []string{"f.toml:"}},
		{"value for a table", "limits = 5", []string{"f.toml"}},

		{"out of range", "mark_sync = \"1m\"", []string{"f.toml: \"mark_sync\" must be from 1ms to 1s, not 1m."}},
		{"not a number", "[limits]\ntoken_rate = nan", []string{"limits.token_rate"}},
		{"a relay without scheme", "[beacon]\nrelays = [\"api.drand.sh\"]",
			[]string{"\"beacon.relays\" must hold http or https address"}},
		{"a relay with a query", "[beacon]\nrelays = [\"https://api.drand.sh/?a=b\"]", []string{"\"beacon.relays\" must"}},
		{"a relay twice", "[beacon]\nrelays = [\"https://api.drand.sh\", \"https://api.drand.sh\"]",
			[]string{"\"beacon.relays\" must", "twice"}},
		{"a witness's host with a scheme", "[witness]\nhosts = [\"https://w.example.org\"]",
			[]string{"\"witness.hosts\" must hold hosts or host:port"}},
		{"a witness's host with a path", "[witness]\nhosts = [\"w.example.org/w1\"]", []string{"\"witness.hosts\" must"}},
		{"a witness's host with a name", "[witness]\nhosts = [\"me@w.example.org\"]", []string{"\"witness.hosts\" must"}},
		{"an interval without a duration", "[witness]\nintervals = [\"w.example.org/w1\"]",
			[]string{"\"witness.intervals\" must have two words"}},
		{"an interval of a verifier key", "[witness]\nintervals = [\"w+1234abcd+B 1m\"]",
			[]string{"\"witness.intervals\" must have two words"}},
		{"an interval that is too short", "[witness]\nintervals = [\"w 1ms\"]",
			[]string{"\"witness.intervals\" must be from"}},
		{"an interval of no number", "[witness]\nintervals = [\"w soon\"]", []string{"\"witness.intervals\"", "unit"}},
		{"two intervals of a witness", "[witness]\nintervals = [\"w 1m\", \"w 2m\"]", []string{"\"witness.intervals\"", "twice"}},
		{"a witness's host twice", "[witness]\nhosts = [\"w\", \"w\"]", []string{"\"witness.hosts\" must", "twice"}},
		{"a co-dealer of another host without TLS", coDealer("http://back-end.example.org"),
			[]string{`"ledger: co_dealers" must hold https addresses: http`}},
		{"a co-dealer of an address without TLS", coDealer("http://10.0.0.7:9000"),
			[]string{`"ledger: co_dealers" must hold https addresses: http`}},
		{"a co-dealer of a host that looks like this one", coDealer("http://localhost.example.org"),
			[]string{`"ledger: co_dealers" must hold https addresses: http`}},
		{"a co-dealer of all addresses", coDealer("http://0.0.0.0:9000"),
			[]string{`"ledger: co_dealers" must hold https addresses: http`}},
		{"a co-dealer with a password", coDealer("https://u:secret@back-end.example.org"),
			[]string{`"ledger: co_dealers" must hold http or https`}},
		{"a co-dealer of another kind", coDealer("file:///etc"), []string{`"ledger: co_dealers" must hold http or https`}},
		{"an empty relay", "[beacon]\nrelays = [\"\"]", []string{"\"beacon.relays\" must not hold an empty value."}},
		{"infinite", "[limits]\nverify_rate = inf", []string{"limits.verify_rate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse("f.toml", []byte(c.text))
			if got != nil || err == nil {
				t.Fatal("accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error %q lacks %q", err, want)
				}
			}
			for line := range strings.Lines(err.Error()) {
				line = strings.TrimSuffix(line, "\n")
				if !sentence.MatchString(line) || strings.Contains(line, "config.") {
					t.Errorf("no whole sentence for people: %s", line)
				}
			}
		})
	}
}

// TestParsePassword: a password in the file is refused and not repeated.
func TestParsePassword(t *testing.T) {
	for _, address := range []string{
		"postgres://writer:hunter2@db/shuffled",
		"postgresql://writer:hunter2@db/shuffled?sslmode=disable",
		"postgres://writer@db/shuffled?password=hunter2",
		"postgres://writer:hunter2%zz@db/shuffled", // does not even parse
		"host=db password=hunter2",
	} {
		c, err := Parse("f.toml", []byte("database = \""+address+"\""))
		if c != nil || err == nil {
			t.Errorf("%s: accepted", address)
			continue
		}
		if !strings.Contains(err.Error(), `"database" must`) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
	// On the command line it is the operator's business.
	c := Default()
	c.Database = "postgres://writer:hunter2@db/shuffled"
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// coDealer is a ledger with a co-dealer at an address.
func coDealer(address string) string {
	return fmt.Sprintf("[[ledger]]\nname = \"main\"\nco_dealers = [\"lab.example.org/o %s/v1/o /token\"]", address)
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shuffled.toml")
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("data = \"/srv\"\n")
	c, err := Load(path)
	if err != nil || c.Data != "/srv" || c.Listen != Default().Listen {
		t.Errorf("%+v, %v", c, err)
	}
	write("data = \"/srv\"\nbad = 1\n")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+":2: ") {
		t.Errorf("error %v", err)
	}
	write(strings.Repeat("#", maxFile+1))
	if _, err := Load(path); err == nil {
		t.Error("a file of more than a mebibyte was read")
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
}

func FuzzParse(f *testing.F) {
	example, err := os.ReadFile(examplePath)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add("ledger = [{ name = \"a\" }]\nlimits.queue = 2048")
	f.Add("[[ledger]]\nname = \"a\"\n[ledger.x]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f", []byte(text))
		if (c == nil) == (err == nil) {
			t.Fatalf("%v and %v", c, err)
		}
		if err != nil {
			return
		}
		c.Resolve()
		if err := c.Validate(); err != nil {
			t.Fatalf("valid before Resolve, not after: %v", err)
		}
	})
}
