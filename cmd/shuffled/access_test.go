package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/cli/host"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/recall"
	"shuffled/internal/term"
)

// TestRetention drops everything that can be dropped, alongside a running daemon, and has recall list nothing that is
// closed: every receipt, every transcript, the bundle and all checks are the same before and after.
func TestRetention(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, d *daemon) {
		d.start()
		ids := d.playSome(6)
		regulator := d.token("regulator.token")
		const asks = 3
		for range asks {
			if status, b, err := d.get("/v1/main/shuffles?limit=500", regulator); status != 200 || err != nil ||
				strings.Count(string(b), `"serial"`) != len(ids) {
				t.Fatalf("recall: %d, %v: %s", status, err, b)
			}
		}
		cfg := config.Default()
		cfg.Data, cfg.Database = d.data, d.database
		cfg.Resolve()
		store, err := place.OpenStore(t.Context(), cfg, true)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		id := ledger.IDOf(host.SandboxOrigin)
		head, err := store.Head(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		before := d.everything(ids, head.Size)

		later := func() time.Time { return time.Now().Add(2 * time.Hour) }
		if n, err := recall.Drop(t.Context(), store, id, time.Hour, later()); n != asks-1 || err != nil {
			t.Fatalf("dropped %d requests, %v; want all but the newest of %d", n, err, asks)
		}
		for keep, want := range map[time.Duration][]uint64{0: ids, 3 * time.Hour: ids, time.Hour: ids[len(ids)-1:]} {
			found, err := recall.New(closing{store: store, id: id}, store, keep, later).Find(t.Context(),
				ledger.RecallQuery{Limit: 99})
			var got []uint64
			for _, r := range found.Shuffles {
				got = append(got, r.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("recall with a retention of %s: %v, %v; want %v", keep, got, err, want)
			}
		}
		if diff := cmp.Diff(before, d.everything(ids, head.Size)); diff != "" {
			t.Errorf("the evidence changed:\n%s", diff)
		}
	})
}

// closing is a ledger that looks for its open shuffles in the store.
type closing struct {
	recall.Ledger // nothing else is asked for
	store         ledger.Store
	id            ledger.ID
}

func (c closing) ID() ledger.ID { return c.id }

func (c closing) OpenAt(ctx context.Context, size uint64) (open []rules.OpenRef, err error) {
	list, err := c.store.Commits(ctx, c.id, ledger.CommitQuery{To: size, Limit: 99})
	for _, e := range list {
		if e.Close == nil {
			open = append(open, rules.OpenRef{ID: e.Index, Table: "t-1"})
		}
	}
	return open, err
}

// checkedAt is the only line of a report that says when it was made.
var checkedAt = regexp.MustCompile(`(?m)^ +"at": ".*",\n`)

// playSome plays shuffles, of which all but the last are closed, and returns their ids.
func (d *daemon) playSome(n int) (ids []uint64) {
	d.t.Helper()
	for i := range n {
		var s struct{ ID uint64 }
		d.mustPost("/v1/main/shuffles", fmt.Sprintf("retention-%d", i),
			map[string]any{"table": "t-1", "deck": "standard-52", "game_ref": "g"}, &s)
		path := fmt.Sprintf("/v1/main/shuffles/%d/", s.ID)
		d.mustPost(path+"deal", "", map[string]any{"first": 0,
			"runs": []any{map[string]any{"count": 2, "purpose": "seat", "recipient": "seat-1"}}}, nil)
		if i < n-1 {
			d.mustPost(path+"close", "", map[string]any{"outcome": "completed"}, nil)
		}
		ids = append(ids, s.ID)
	}
	return ids
}

// everything is all evidence of the ledger, and what checks say of it.
func (d *daemon) everything(ids []uint64, size uint64) map[string]string {
	d.t.Helper()
	all := make(map[string]string)
	get := func(path string) {
		d.t.Helper()
		status, b, err := d.get(path, "")
		if status != 200 || err != nil {
			d.t.Fatalf("%s: %d, %v: %s", path, status, err, b)
		}
		all[path] = string(b)
	}
	for index := range size {
		get(fmt.Sprintf("/v1/main/entries/%d/receipt", index))
	}
	for _, id := range ids {
		get(fmt.Sprintf("/v1/main/shuffles/%d/transcript", id))
	}
	get("/log/main/checkpoint")
	dir := filepath.Join(d.t.TempDir(), "bundle")
	export(d.t, dir, d.place()...)
	maps.Copy(all, tree(d.t, dir))
	all["manifest.json"] = undated(all["manifest.json"])
	vkey := filepath.Join(d.data, "main.vkey")
	for name, args := range map[string][]string{
		"verify": {"audit", "verify", dir, "--json", "--key", vkey},
		"fsck":   append([]string{"audit", "fsck", "--json", "--key", vkey}, d.place()...),
	} {
		stdout, stderr, code := command(d.t, args...)
		if code != 0 {
			d.t.Fatalf("%s: exit code %d: %s%.2000s", name, code, stderr, stdout)
		}
		all[name] = checkedAt.ReplaceAllString(stdout, "")
	}
	if len(all) < int(size)+len(ids)+5 {
		d.t.Fatalf("the evidence is no more than %d files: %v", len(all), slices.Sorted(maps.Keys(all)))
	}
	return all
}

// TestRetentionRun is the command, on a database without a ledger's daemon.
func TestRetentionRun(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, d *daemon) {
		d.start()
		d.stop()
		long := time.Now().Add(-48 * time.Hour).UnixMilli()
		d.exec( // the newest of a chain stays
			fmt.Sprintf("INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev) SELECT ledger, %d, 'r', 't', 'GET', '/', 1, root FROM heads", long),
			fmt.Sprintf("INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev) SELECT ledger, %d, 'r', 't', 'GET', '/', 2, root FROM heads", long+1))
		conf := func(text string) []string {
			path := filepath.Join(t.TempDir(), "c.toml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return append([]string{"retention", "run", "--config", path}, d.place()...)
		}
		day := "retention = \"1h\"\naccess_retention = \"24h\"\n"
		for _, step := range []struct {
			text string
			more []string
			want []string
		}{
			{"", nil, []string{"the requests of regulators and administrators are kept without limit, because access_retention is 0s\n", "DROPPED  REQUESTS\n", "main     0\n"}},
			{"access_retention = \"72h\"\n", nil,
				[]string{"the requests of regulators and administrators are kept for 72h0m0s\n", "main     0\n"}},
			{day, []string{"--dry-run"}, []string{"TO DROP  REQUESTS\n", "main     1\n"}},
			{day, []string{"--dry-run", "--json"}, []string{"\"ledger\": \"main\",\n    \"accesses\": 1\n"}},
			{day, nil, []string{"main     1\n"}},
			{day, nil, []string{"main     0\n"}},
		} {
			stdout, stderr, code := command(t, append(conf(step.text), step.more...)...)
			if code != 0 || stderr != "" {
				t.Errorf("%q %v: exit code %d: %s", step.text, step.more, code, stderr)
			}
			for _, want := range step.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("%q %v: no %q in\n%s", step.text, step.more, want, stdout)
				}
			}
		}
		if _, _, code := command(t, conf("access_retention = \"1s\"\n")...); code != term.ExitUsage {
			t.Errorf("a retention of a second: exit code %d", code)
		}
	})
}

// TestAccessHeads: the head of the records is written if there is a new one, and so it is at a stop; a daemon that
// starts again writes none that stands in the ledger.
func TestAccessHeads(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsWarn)
	id := s.open()[0].ledger().ID()
	asks := 0
	ask := func() {
		t.Helper()
		asks++
		if err := s.store.PutAccess(t.Context(), id,
			ledger.Access{Time: int64(asks), Request: fmt.Sprint(asks), Token: "t", Method: "GET",
				Path: "/"}); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(what string, records ...uint64) {
		t.Helper()
		var got []uint64
		for _, e := range s.events() {
			if e.Kind == audit.EventAccessHead {
				got = append(got, e.Records)
			}
		}
		if !slices.Equal(got, records) {
			t.Errorf("%s: heads of %d records, want %d", what, got, records)
		}
	}
	// daemon is one that starts, with the number of times at which heads are due.
	h := &house{log: s.log}
	daemon := func(times int) {
		l := *s.open()[0]
		l.head = nil
		for range times {
			h.keepAccessHead(t.Context(), &l)
		}
	}
	daemon(1)
	wants("nothing was asked for")
	ask()
	ask()
	daemon(2)
	wants("two requests, and then no new one", 2)
	ask()
	daemon(1)
	wants("another request", 2, 3)
	daemon(3)
	wants("a daemon that starts again", 2, 3)
	ask()
	daemon(1)
	wants("another request", 2, 3, 4)
	s.house.close()
	s.begin()
	ask()
	s.house.close()
	s.begin()
	wants("the house itself, closed and opened twice", 2, 3, 4, 5)
}
