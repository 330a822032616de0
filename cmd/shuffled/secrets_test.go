package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit/openings"
	"shuffled/internal/keys"
	"shuffled/internal/needle"
	"shuffled/internal/testdb"
)

// TestSecretsStayHidden plays hands and then looks for every tape, every salt of an undealt position, the keys and the
// tokens in all that the daemon wrote or said before the close: the store's files with their write-ahead log, a dump,
// the server's log of statements, the daemon's log at debug level, metrics, and answers, those to bad requests among
// them. The tapes of hands for auditors it looks for once more after the close, for nobody but auditors ever gets them.
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		d := newDaemon(t, "")
		secretsTest(t, d, func(sinks) {})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		c := testdb.Start(t, testdb.Setting("log_statement", "all"), testdb.Setting("log_parameter_max_length", "-1"),
			testdb.Setting("log_parameter_max_length_on_error", "-1"),
			testdb.Setting("log_min_duration_statement", "0"))
		d := newDaemon(t, c.Database(t))
		secretsTest(t, d, func(s sinks) {
			dump, err := testdb.Bin("pg_dump")
			if err != nil {
				t.Fatal(err)
			}
			psql, err := testdb.Bin("psql")
			if err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(psql, d.database, "-c", "CHECKPOINT").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := exec.Command(dump, d.database).Output()
			if err != nil {
				t.Fatal(err)
			}
			s["pg_dump"] = out
			s.files(t, "PostgreSQL ", c.DataDir())
			s.file(t, "PostgreSQL log", c.LogFile())
		})
	})
}

// sinks are all places where a secret could end up, by name.
type sinks map[string][]byte

func (s sinks) file(t *testing.T, name, path string) {
	t.Helper()
	s[name] = contents(t, path)
}

// files reads every file below dir but the daemon's key and token files.
func (s sinks) files(t *testing.T, name, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasSuffix(path, ".key") || strings.HasSuffix(path, ".token") {
			return nil // a running server's files come and go
		}
		if b, err := os.ReadFile(path); err == nil {
			s[name+filepath.Base(path)] = b
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

type playedHand struct {
	id         uint64
	auditor    bool // closed for auditors
	commitment [32]byte
	tape       []byte
}

const dealtOfHand = 5

func secretsTest(t *testing.T, d *daemon, more func(sinks)) {
	d.start("--log-level", "debug")
	s := make(sinks)
	hands := make([]playedHand, 12)
	for i := range hands {
		var created struct {
			ID         uint64
			Commitment []byte
		}
		s[fmt.Sprintf("commit answer %d", i)] = d.mustPost("/v1/main/shuffles", fmt.Sprintf("key-%d", i),
			map[string]any{"table": fmt.Sprintf("t%d", i), "deck": "standard-52",
				"disclosure": []string{"public", "auditor"}[i%2]}, &created)
		hands[i] = playedHand{id: created.ID, auditor: i%2 == 1, commitment: [32]byte(created.Commitment)}
		path := fmt.Sprintf("/v1/main/shuffles/%d", created.ID)
		s[fmt.Sprintf("deal answer %d", i)] = d.mustPost(path+"/deal", "", map[string]any{"first": 0, "runs": []any{
			map[string]any{"count": 2, "purpose": "seat", "recipient": "seat-1"},
			map[string]any{"count": dealtOfHand - 2, "purpose": "board", "public": true}}}, nil)
		askEverything(t, d, s, path, i)
	}
	s.file(t, "log", d.log)
	s.files(t, "data ", d.data)
	more(s)

	after := make(sinks)
	for i, h := range hands {
		var closed struct{ Tape []byte }
		path := fmt.Sprintf("/v1/main/shuffles/%d", h.id)
		after[fmt.Sprintf("close answer %d", i)] = d.mustPost(path+"/close", "", map[string]any{"outcome": "completed"},
			&closed)
		hands[i].tape = closed.Tape
		if !h.auditor {
			continue
		}
		if closed.Tape != nil {
			t.Errorf("the close of %d discloses its tape", h.id)
		}
		hands[i].tape = d.sealedTape(h.id)
		askEverything(t, d, after, path, i)
	}
	after.file(t, "log", d.log)
	after.files(t, "data ", d.data)
	more(after)
	d.stop()
	searchFor(t, d, s, hands)
	searchFor(t, d, after, slices.DeleteFunc(hands, func(h playedHand) bool { return !h.auditor }))
}

// askEverything makes good and bad requests about a shuffle, as several callers.
func askEverything(t *testing.T, d *daemon, s sinks, path string, i int) {
	t.Helper()
	for _, token := range []string{"", d.token("auditor.token"), d.token("dealer.token"), d.token("regulator.token"),
		d.token("admin.token")} {
		for _, p := range []string{path, path + "/transcript", path + "/transcript?recipient=seat-1", "/metrics",
			"/readyz",
			"/v1/main/keys", "/log/main/checkpoint", path + "/nothing", "/v1/main/access", "/v1/main/shuffles?table=t1",
			path + "?token=" + d.token("dealer.token"), path + "?Bearer%20" + d.token("regulator.token")} {
			_, b, err := d.get(p, token)
			if err != nil {
				t.Fatal(err)
			}
			s[fmt.Sprintf("GET %s as %.8s %d", p, token, i)] = b
		}
		for _, body := range []any{map[string]any{"first": 40,
			"runs": []any{map[string]any{"count": 20, "purpose": "seat", "recipient": "seat-1"}}},
			map[string]any{"outcome": "void"}, map[string]any{"nonsense": strings.Repeat("x", 100)}} {
			for _, p := range []string{path + "/deal", path + "/close"} {
				status, b, err := d.post(p, token, "", body)
				if err != nil || status/100 == 2 {
					t.Fatalf("POST %s: %d, %v", p, status, err)
				}
				s[fmt.Sprintf("POST %s %.20v as %.8s %d", p, body, token, i)] = b
			}
		}
	}
}

func searchFor(t *testing.T, d *daemon, s sinks, hands []playedHand) {
	t.Helper()
	hidden, public := needle.New(), needle.New()
	for _, name := range []string{"dealer.token", "auditor.token", "regulator.token", "admin.token"} {
		_, secret, _ := strings.Cut(d.token(name), ".")
		hidden.Bytes(name, []byte(secret))
	}
	k, err := keys.ReadAuditor(filepath.Join(d.data, "auditor.key"), keys.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	hidden.Bytes("the auditor's private key", k.Private().Bytes())
	for _, h := range hands {
		if len(h.tape) != 129 {
			t.Fatalf("a close discloses %d bytes", len(h.tape))
		}
		hidden.Bytes(fmt.Sprintf("the tape of %d", h.id), h.tape)
		salts := openings.Salts(h.commitment, h.tape, 52)
		for p := dealtOfHand; p < 52; p++ {
			hidden.Bytes(fmt.Sprintf("salt %d of %d", p, h.id), salts[32*p:32*p+32])
		}
		public.Bytes("commitment", h.commitment[:])
	}
	found := 0
	for where, b := range s {
		for _, what := range foundIn(hidden, b) {
			t.Errorf("%s stands in: %s", what, where)
		}
		// What is public is found by the same search, or the search finds nothing.
		found += min(1, len(foundIn(public, b)))
	}
	if found < len(hands) {
		t.Errorf("void: the search found public commitments in %d places only, of %d", found, len(s))
	}
}

// foundIn returns the names of the needles that stand in b.
func foundIn(n *needle.Needles, b []byte) (found []string) {
	n.In(b, func(one needle.Needle, _ int) { found = append(found, one.What) })
	return found
}
