package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/player"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// said runs a command and returns its exit code and what it printed.
func said(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, term.Streams{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// TestSlotNew: a value is new each time, and its hash is that of the specification at this ledger and table alone.
func TestSlotNew(t *testing.T) {
	t.Parallel()
	at := []string{"--origin", "example.com/main", "--table", "table-1"}
	code, text, _ := said(t, "", append([]string{"slot", "new"}, at...)...)
	if code != term.ExitOK || !strings.Contains(text, "\nhash   ") {
		t.Fatalf("exit code %d: %s", code, text)
	}
	code, other, _ := said(t, "", append([]string{"slot", "new", "--json"}, at...)...)
	var made struct{ Value, Hash []byte }
	if err := json.Unmarshal([]byte(other), &made); err != nil || code != term.ExitOK || len(made.Value) != 32 {
		t.Fatalf("exit code %d, %v: %s", code, err, other)
	}
	if want := audit.SlotHash("example.com/main", "table-1", [32]byte(made.Value)); !bytes.Equal(made.Hash, want[:]) ||
		strings.Contains(text, base64.StdEncoding.EncodeToString(made.Value)) {
		t.Errorf("value %x, hash %x, want %x", made.Value, made.Hash, want)
	}
	for _, printed := range []string{text, text[len("value  "):][:44], hex.EncodeToString(made.Value) + "\n"} {
		want := made.Value
		if len(printed) != 65 {
			want, _ = base64.StdEncoding.DecodeString(text[len("value  "):][:44])
		}
		got, err := player.ReadSlot("-", strings.NewReader(printed))
		if err != nil || !bytes.Equal(got[:], want) {
			t.Errorf("of %q: %x, %v", printed, got, err)
		}
	}
	for _, args := range [][]string{
		{"slot", "new", "--origin", "Example", "--table", "table-1"},
		{"slot", "new", "--origin", "example.com/main", "--table", "t 1"},
		{"slot", "new", "--table", "table-1"},
	} {
		if code, _, errs := said(t, "hunter2", args...); code != term.ExitUsage || strings.Contains(errs, "hunter2") {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
}

// TestVerifyMySlot: the level is for anyone who gave the slot, and a file without it fails.
func TestVerifyMySlot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	var v struct {
		File  string
		Trust struct {
			Policy string
			Slots  [][]byte
		}
	}
	b := contents(t, filepath.Join("..", "..", "internal", "verify", "testdata", "vectors", "good", "slot.json"))
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	file, policy := write("file", []byte(v.File)), write("policy", []byte(v.Trust.Policy))
	parsed, err := openings.ParseTranscript([]byte(v.File))
	if err != nil {
		t.Fatal(err)
	}
	commit := write("commit", []byte(parsed.Receipt(1)))
	value := base64.StdEncoding.EncodeToString(v.Trust.Slots[0])
	slot, inHex := write("slot", []byte(value+"\n")), write("hex", []byte(hex.EncodeToString(v.Trust.Slots[0])))
	missing := write("missing", []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))))
	bad, short := write("bad", []byte("hunter2")), write("short", []byte(value[1:]))
	for _, test := range []struct {
		args []string
		code int
		want string // in what is printed
	}{
		{[]string{file}, term.ExitOK, `PROVED, at the level "witnessed": `},
		{[]string{file, "--my-slot-file", slot}, term.ExitOK,
			`PROVED, at the level "mixed" for you who gave the slot, and for nobody else`},
		{[]string{file, "--my-slot-file", inHex, "--my-slot-file", slot}, term.ExitOK, `for the holder of slot `},
		{[]string{file, "--my-slot-file", slot, "--require", "mixed"}, term.ExitOK, `"mixed"`},
		{[]string{file, "--require", "mixed"}, term.ExitFails, `asks for the level "mixed", and the evidence has the level "witnessed"`},
		{[]string{file, "--my-slot-file", missing}, term.ExitFails, `FAILED at the step slots`},
		{[]string{file, "--my-slot-file", slot, "--my-slot-file", missing}, term.ExitFails, `FAILED at the step slots`},
		{[]string{commit, "--my-slot-file", slot}, term.ExitOK, "1 of the 2 sources of the plan"},
		{[]string{commit, "--my-slot-file", missing}, term.ExitFails, `FAILED at the step slots`},
		{[]string{file, "--my-slot-file", bad}, term.ExitUsage, "32 bytes in base64 or hexadecimal"},
		{[]string{file, "--my-slot-file", short}, term.ExitUsage, "32 bytes in base64 or hexadecimal"},
		{[]string{file, "--my-slot-file", policy}, term.ExitUsage, "value of a slot"},
		{[]string{file, "--my-slot-file", slot + "x"}, term.ExitCannot, "reading the slot's value"},
		{[]string{"-", "--my-slot-file", "-"}, term.ExitUsage, "not both"},
	} {
		code, out, errs := said(t, "", append([]string{"verify", "--policy", policy}, test.args...)...)
		if text := strings.Join(strings.Fields(out+errs), " "); code != test.code ||
			!strings.Contains(text, test.want) || strings.Contains(text, value) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s%s", test.args, code, test.code, test.want, out, errs)
		}
	}

	_, out, _ := said(t, "", "verify", file, "--policy", policy, "--my-slot-file", slot, "--json")
	var got verify.Verdict
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Level != verify.LevelMixed || len(got.Mixed) != 1 ||
		got.Mixed[0].For != verify.ForSlot {
		t.Errorf("%v: %s", err, out)
	}
}
