package ticket

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"shuffled/internal/term"
)

// vectorOf reads a vector of another package.
func vectorOf(t *testing.T, v any, path ...string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// transcript is a vector of a whole file.
type transcript struct {
	File  string
	Trust struct{ VKey string }
	Want  struct {
		Places int
		Shows  []uint64
	}
}

// checker runs the command on a proof and the transcript of a draw.
func checker(t *testing.T, file, key string) func(proof string) (string, error) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	draw := write("draw.json", file)
	return func(proof string) (string, error) {
		var out bytes.Buffer
		err := (&checkCmd{File: write("proof", proof), Transcript: draw, Key: key}).Run(
			term.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		return out.String(), err
	}
}

// TestCheckDrawn: every proof of the vectors against the transcript of a draw. Those of its list are said to be drawn
// or not, as the vector of the transcript says, and no other is taken.
func TestCheckDrawn(t *testing.T) {
	var draw transcript
	vectorOf(t, &draw, "verify", "testdata", "vectors", "good", "terms-raffle.json")
	var proofs struct {
		Tickets []struct{ Name, Text, Want string }
	}
	vectorOf(t, &proofs, "terms", "testdata", "terms.json")
	check := checker(t, draw.File, draw.Trust.VKey)
	places := make(map[string]int)
	for place, number := range draw.Want.Shows {
		places[strconv.FormatUint(number, 10)] = place
	}
	taken, won := 0, 0
	for _, c := range proofs.Tickets {
		said, err := check(c.Text)
		lines := strings.Split(c.Text, "\n")
		switch {
		case c.Want == "unknown":
			if err == nil || !strings.Contains(err.Error(), "cannot judge") || said != "" {
				t.Errorf("%s: %q, %v", c.Name, said, err)
			}
		case c.Want == "ok" && lines[1] == "count 7":
			number := strings.TrimPrefix(lines[3], "number ")
			want := "Ticket " + strings.TrimPrefix(lines[4], "line ") + " has the number " + number + " of 7.\n"
			if place, ok := places[number]; ok {
				want += "It was drawn, at place " + strconv.Itoa(place) + ".\n"
				won++
			} else {
				want += "It is not among the 3 numbers that the file shows, of 3 that were committed to.\n"
			}
			want += "The draw is proved, at the level \"recorded\".\nThe house could choose the winner: it knows the " +
				"list, and nothing that was unknown to it has a part in the order.\n"
			if taken++; err != nil || said != want {
				t.Errorf("%s: %q, %v, want %q", c.Name, said, err, want)
			}
		default:
			if !errors.Is(err, term.ErrFails) || !strings.HasPrefix(said, "FAILED: ") {
				t.Errorf("%s: %q, %v", c.Name, said, err)
			}
		}
	}
	if taken < 3 || won == 0 || won == taken {
		t.Errorf("%d proofs, %d of them drawn", taken, won)
	}
}

// TestCheckTranscripts: what the transcript is, and what it proves.
func TestCheckTranscripts(t *testing.T) {
	var proofs struct{ Tickets []struct{ Text string } }
	vectorOf(t, &proofs, "terms", "testdata", "terms.json")
	for _, c := range []struct{ dir, name, want string }{
		{"good", "terms-tickets", "FAILED: the shuffle is drawn from another list of tickets"},
		{"good", "terms-wheel", "FAILED: the shuffle of the transcript is not drawn from a list"},
		{"good", "numbers", "FAILED: the shuffle of the transcript is not drawn from a list"},
		{"bad", "terms-tickets-fewer", "FAILED: the transcript fails at the step legality"},
	} {
		var draw transcript
		vectorOf(t, &draw, "verify", "testdata", "vectors", c.dir, c.name+".json")
		said, err := checker(t, draw.File, draw.Trust.VKey)(proofs.Tickets[2].Text)
		if !errors.Is(err, term.ErrFails) || !strings.HasPrefix(said, c.want) {
			t.Errorf("%s: %q, %v", c.name, said, err)
		}
	}
	var draw transcript
	vectorOf(t, &draw, "verify", "testdata", "vectors", "good", "terms-raffle.json")
	said, err := checker(t, draw.File, "")(proofs.Tickets[2].Text)
	if err != nil || !strings.Contains(said, "KEY NOT PINNED") || strings.Contains(said, "proved") {
		t.Errorf("without a key: %q, %v", said, err)
	}
	var usage *term.UsageError
	cmd := checkCmd{File: "-", Transcript: "-"}
	if err := cmd.Run(term.Streams{}); !errors.As(err, &usage) {
		t.Errorf("two files on standard input: %v", err)
	}
}

// TestCommands: a root, and a proof for an entrant. TestCheckDrawn checks proofs.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "tickets.txt"), filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte("T-1\nT-2\nT-3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	s := term.Streams{In: strings.NewReader("T-1\nT-2\nT-3\n"), Out: &out, Err: &notes}
	run := func(c interface{ Run(term.Streams) error }) (string, error) {
		out.Reset()
		err := c.Run(s)
		return out.String(), err
	}
	from := List{file, secret}
	first, err := run(&rootCmd{List: from})
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^count 3\nroot \S{44}\n$`)
	if again, err := run(&rootCmd{List: List{"-", secret}}); err != nil || again != first || !form.MatchString(first) {
		t.Fatalf("the root is %q, and then %q: %v", first, again, err)
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", info, err)
	}
	proof, err := run(&proveCmd{List: from, Line: "T-2"})
	if err != nil {
		t.Fatal(err)
	}
	if by, err := run(&proveCmd{List: from, Number: 2}); err != nil || by != proof {
		t.Errorf("the proof by number is %q: %v", by, err)
	}
	_, err = run(&proveCmd{List: from, Line: "T-9"})
	if err == nil || !strings.Contains(err.Error(), "no such ticket") {
		t.Errorf("a ticket that is not there: %v", err)
	}
}
