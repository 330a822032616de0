package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/player"
	"shuffled/internal/term"
)

func TestParseRanges(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]uint32{"37": {37}, "6,6": {6, 6}, "6x3": {6, 6, 6}, "6x2,20": {6, 6, 20},
		"0": {0}, "4294967295": {1<<32 - 1}} {
		if got, err := parseRanges(in); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	if got, err := parseRanges("6x4096"); err != nil || len(got) != maxRanges {
		t.Errorf("%d ranges, %v", len(got), err)
	}
	for _, in := range []string{"", ",", "6,", "six", "-6", "6x", "6x0", "6x-1", "x6", "6x4097", "6x4096,6",
		"4294967296", "6x2x2"} {
		var wrong *term.UsageError
		if got, err := parseRanges(in); !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestParseWheel(t *testing.T) {
	t.Parallel()
	got, err := parseWheel("1:24,10:1:3,joker:2")
	if want := []client.Stop{{Label: "1", Weight: 24}, {Label: "10:1", Weight: 3},
		{Label: "joker", Weight: 2}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, in := range []string{"", "red", ":3", "red:", "red:x", "red:1,", "red:1.5"} {
		var wrong *term.UsageError
		if got, err := parseWheel(in); !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestParsePositions(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]int{"0": {0}, "3,1": {3, 1}, "0,5,9-11": {0, 5, 9, 10, 11},
		"4095-4095": {4095}} {
		if got, err := parsePositions(in); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", ",", "1,", "-1", "5-2", "1-", "4096", "0-4096", "a", "1-2-3"} {
		var wrong *term.UsageError
		if got, err := parsePositions(in); !errors.As(err, &wrong) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestParseBytes(t *testing.T) {
	t.Parallel()
	hexadecimal, base64 := strings.Repeat("ab", 32), "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
	for _, in := range []string{hexadecimal, strings.ToUpper(hexadecimal), base64} {
		if b, err := player.ParseBytes(in, 32); err != nil || [32]byte(b) != [32]byte([]byte(strings.Repeat("\xab", 32))) {
			t.Errorf("%s: %x, %v", in, b, err)
		}
	}
	// 48 bytes are 96 digits and 64 characters, which are 32 bytes as digits.
	if b, err := player.ParseBytes(strings.Repeat("abcd", 16), 48); err != nil || len(b) != 48 {
		t.Errorf("%x, %v", b, err)
	}
	for _, in := range []string{"", "secret", hexadecimal[1:], hexadecimal + "00", base64[:43], base64 + "\n",
		strings.Repeat("x", 64)} {
		if b, err := player.ParseBytes(in, 32); err == nil || in != "" && strings.Contains(err.Error(), in) {
			t.Errorf("%q: %x, %v", in, b, err)
		}
	}
}

// TestRoundFlag: --beacon stands alone or has a round, and takes no other word
// with it.
func TestRoundFlag(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]roundFlag{
		"--table t --deck d":                {},
		"--table t --deck d --beacon":       {asked: true},
		"--table t --beacon --deck d":       {asked: true},
		"--table t --deck d --beacon=12345": {true, 12345},
	} {
		var c shuffleCmd
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(line)); err != nil || c.Beacon != want || c.Deck != "d" {
			t.Errorf("%s: %+v, deck %q, %v", line, c.Beacon, c.Deck, err)
		}
	}
}

func TestMixModes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]uint8{"": 0, "--mix slots": 1, "--mix beacon": 2, "--mix cut": 4,
		"--mix slots,cut": 5, "--mix slots,beacon,cut": allMixModes} {
		var c ledgerCreateCmd
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields("--name main --origin o " + line)); err != nil ||
			c.mixModes() != want {
			t.Errorf("%s: %d, %v", line, c.mixModes(), err)
		}
		if _, err := parser.Parse([]string{"--name", "main", "--origin", "o", "--mix", "slots,dice"}); err == nil {
			t.Error("a source that there is not")
		}
	}
}

// TestRelays: a daemon asks its relays for the round of a plan, from the round's
// time on, and believes none of them.
func TestRelays(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	early := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
	}))
	defer early.Close()
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, round, _ := strings.Cut(r.URL.Path, "/public/")
		fmt.Fprintf(w, `{"round":%s,"signature":"%s"}`, round, strings.Repeat("ab", 48))
		select {
		case asked <- r.URL.Path:
		default:
		}
	}))
	defer liar.Close()
	config := filepath.Join(t.TempDir(), "shuffled.toml")
	text := fmt.Sprintf("[beacon]\nrelays = [%q, %q]\n", early.URL, liar.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t, "")
	d.start("--config", config)
	// The second round from now: the first may come out before the commit is made.
	round := audit.BeaconRound(time.Now().UnixMilli()) + 1
	var made struct{ ID uint64 }
	d.mustPost("/v1/main/shuffles", "hand", map[string]any{"table": "t", "deck": "standard-52",
		"mix": map[string]any{"beacon": map[string]any{"round": round}}}, &made)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		status, answer, err := d.post(fmt.Sprintf("/v1/main/shuffles/%d/mix", made.ID), d.token("dealer.token"), "",
			map[string]any{})
		if err != nil || status != http.StatusServiceUnavailable ||
			!strings.Contains(string(answer), `"code":"beacon_early"`) {
			t.Fatalf("%d, %v: %s", status, err, answer)
		}
		select {
		case path := <-asked:
			if _, got, _ := strings.Cut(path, "/public/"); got != strconv.FormatUint(round, 10) {
				t.Errorf("%s was asked for round %d", path, round)
			}
			return
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("no relay was asked")
		}
	}
}
