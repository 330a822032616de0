package witness_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/witness"
)

func TestParseRequest(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	for _, r := range []witness.Request{
		{Checkpoint: l.signed(1)},
		{Old: 3, Proof: l.proof(3, 8), Checkpoint: l.signed(8)},
		{Old: 1<<53 - 1, Proof: make([]tlog.Hash, witness.MaxProof), Checkpoint: l.signed(2)},
		{Checkpoint: nil}, // what is in the note is not looked at here
		{Checkpoint: []byte("\n\n\n")},
	} {
		got, err := witness.ParseRequest(r.Encode())
		if err != nil {
			t.Fatalf("%q: %v", r.Encode(), err)
		}
		if got.Old != r.Old || fmt.Sprint(got.Proof) != fmt.Sprint(r.Proof) ||
			!bytes.Equal(got.Checkpoint, r.Checkpoint) {
			t.Errorf("%+v, want %+v", got, r)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	hash := tlog.RecordHash(nil).String()
	rest := "\n\nexample.org/log\n1\n" + hash + "\n\n— example.org/log AAAA\n"
	for name, body := range map[string]string{
		"empty":               "",
		"no empty line":       "old 0\n" + hash + "\n",
		"no old":              "0" + rest,
		"old twice":           "old 0\nold 0" + rest,
		"capital":             "Old 0" + rest,
		"two spaces":          "old  0" + rest,
		"tab":                 "old\t0" + rest,
		"space before":        " old 0" + rest,
		"space after":         "old 0 " + rest,
		"no size":             "old " + rest,
		"sign":                "old +1" + rest,
		"minus":               "old -1" + rest,
		"minus zero":          "old -0" + rest,
		"leading zero":        "old 01" + rest,
		"hex":                 "old 0x1" + rest,
		"underscore":          "old 1_0" + rest,
		"above 2^53-1":        "old 9007199254740992" + rest,
		"above 2^63":          "old 9223372036854775808" + rest,
		"above 2^64":          "old 18446744073709551616" + rest,
		"return":              "old 0\r" + rest,
		"return after a hash": "old 1\n" + hash + "\r" + rest,
		"return in a hash":    "old 1\n" + hash[:4] + "\r" + hash[4:] + rest,
		"short hash":          "old 1\n" + hash[4:] + rest,
		"long hash":           "old 1\n" + hash[:4] + hash + rest,
		"no padding":          "old 1\n" + strings.TrimRight(hash, "=") + rest,
		"URL base64":          "old 1\n" + strings.Repeat("_", 43) + "=" + rest,
		"spare bits":          "old 1\n" + strings.Repeat("A", 42) + "B=" + rest,
		"space after a hash":  "old 1\n" + hash + " " + rest,
		"64 hashes":           "old 1" + strings.Repeat("\n"+hash, 64) + rest,
		"too long":            "old 0" + rest + strings.Repeat("x", witness.MaxRequest),
	} {
		if r, err := witness.ParseRequest([]byte(body)); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
	longest := "old 0\n\n" + strings.Repeat("x", witness.MaxRequest-7)
	if _, err := witness.ParseRequest([]byte(longest)); err != nil {
		t.Errorf("a body of %d bytes: %v", len(longest), err)
	}
}

func FuzzParseRequest(f *testing.F) {
	l := newTestLog(f, "example.org/log", "log")
	f.Add(witness.Request{Checkpoint: l.signed(1)}.Encode())
	f.Add(witness.Request{Old: 3, Proof: l.proof(3, 8), Checkpoint: l.signed(8)}.Encode())
	f.Add([]byte("old 0\n\n"))
	f.Add([]byte("old 1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := witness.ParseRequest(body)
		if err != nil {
			return
		}
		if again := r.Encode(); !bytes.Equal(again, body) {
			t.Errorf("%q encodes as %q", body, again)
		}
		if r.Old < 0 || len(r.Proof) > witness.MaxProof {
			t.Errorf("%q: old %d, %d hashes", body, r.Old, len(r.Proof))
		}
	})
}
