package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/internal/term/termtest"
)

// TestRecall finds shuffles of a running daemon and walks its tables.
func TestRecall(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	_, other := sampleKey(t, "other.example")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "recall"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SHUFFLED_URL", d.url)
			env.Setenv("DEALER_TOKEN", d.token("dealer.token"))
			env.Setenv("VKEY", filepath.Join(d.data, "main.vkey"))
			env.Setenv("OTHER", other)
			return nil
		},
		Cmds: termtest.Commands(),
	})
}

// crooked serves the receipts of a ledger that keeps no rules and is still
// signed.
func crooked(t *testing.T, key *keys.SigningKey, bodies []audit.Body) string {
	t.Helper()
	var entries [][]byte
	var hashes []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, err error) {
		for _, i := range indexes {
			list = append(list, hashes[i])
		}
		return list, nil
	})
	times := []int64{10, 20, 30, 40, 50, 60, 70, 80, 90, 35}
	for i, body := range bodies {
		b, err := audit.Entry{Time: times[i], Actor: as("dealer-1"), Body: body}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		more, err := tlog.StoredHashes(int64(i), b, read)
		if err != nil {
			t.Fatal(err)
		}
		entries, hashes = append(entries, b), append(hashes, more...)
	}
	root, err := tlog.TreeHash(int64(len(entries)), read)
	if err != nil {
		t.Fatal(err)
	}
	head, err := ledger.SignHead(key.Signer(), uint64(len(entries)), root)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, b := range entries {
			if !strings.HasSuffix(r.URL.Path, "/entries/"+string(rune('0'+i))+"/receipt") {
				continue
			}
			proof, err := tlog.ProveRecord(int64(len(entries)), int64(i), read)
			if err != nil {
				t.Error(err)
			}
			w.Write([]byte(audit.Receipt{Entry: b, Index: uint64(i), Proof: proof, Checkpoint: head.Checkpoint}.Text()))
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte(`{"type":"x","title":"no","status":404,"code":"not_found"}`))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestHistoryGaps walks tables whose commits do not follow each other.
func TestHistoryGaps(t *testing.T) {
	t.Parallel()
	key, err := keys.GenerateSigning("example.org/main")
	if err != nil {
		t.Fatal(err)
	}
	commit := func(table string, serial, previous uint64) *audit.Commit {
		return &audit.Commit{
			Context: &audit.Context{Origin: key.Origin(), Table: table, Recipe: shuffle.Recipe{Cards: 52, Take: 52},
				Disclosure: audit.DisclosurePublic},
			Serial: serial, Previous: previous, CloseBy: 1000,
		}
	}
	url := crooked(t, key, []audit.Body{
		&audit.Event{Kind: audit.EventTableOpen, Name: "t-1"}, // 0
		commit("t-1", 1, 0),  // 1
		commit("t-2", 1, 0),  // 2
		commit("t-1", 2, 1),  // 3
		commit("t-1", 3, 2),  // 4: before it is another table
		commit("t-1", 4, 3),  // 5: serial 3 is left out
		commit("t-1", 2, 99), // 6: after itself
		commit("t-1", 3, 6),  // 7
		commit("t-1", 3, 9),  // 8: before it is one that comes after it
		commit("t-1", 3, 5),  // 9: earlier than 5
	})
	for _, test := range []struct {
		from  string
		limit string
		gap   string // "" for none
		walks int    // proved commits
	}{
		{"3", "0", "", 2},
		{"4", "0", "entry 2 is a commit of table t-2", 1},
		{"5", "0", "entry 3 has serial 2, and serial 3 should come before entry 5", 1},
		{"7", "0", "entry 6 names entry 99 as the commit before it, and that entry does not come before it", 1},
		{"8", "0", "entry 8 names entry 9 as the commit before it, and that entry does not come before it", 0},
		{"2", "0", "entry 2 is a commit of table t-2", 0},
		{"0", "0", "", 0}, // the newest, and there is no recall here
		{"5", "1", "", 1},
	} {
		var out, errs strings.Builder
		args := []string{"history", "t-1", "--from", test.from, "--limit", test.limit, "--url", url, "--key",
			key.VKey()}
		code := run(context.Background(), args, term.Streams{Out: &out, Err: &errs})
		want := term.ExitOK
		switch {
		case test.from == "0":
			want = term.ExitCannot
		case test.gap != "":
			want = term.ExitFails
		}
		if code != want || test.gap != "" && !strings.Contains(out.String(), "\ngap: "+test.gap+"\n") {
			t.Errorf("from %s: exit code %d, want %d\n%s%s", test.from, code, want, out.String(), errs.String())
		}
		if n := strings.Count(out.String(), " UTC "); n != test.walks {
			t.Errorf("from %s: %d commits were walked, want %d\n%s", test.from, n, test.walks, out.String())
		}
	}
}
