package main

import (
	"crypto/ecdh"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/disclosure"
	"shuffled/internal/keys"
	"shuffled/internal/needle"
	"shuffled/internal/term"
)

// entry reads one entry from its receipt.
func (d *daemon) entry(index uint64) audit.Entry {
	d.t.Helper()
	status, text, err := d.get(fmt.Sprintf("/v1/main/entries/%d/receipt", index), "")
	if err != nil || status != 200 {
		d.t.Fatalf("receipt %d: %d, %v: %s", index, status, err, text)
	}
	r, err := audit.ParseReceipt(string(text))
	if err != nil {
		d.t.Fatal(err)
	}
	e, err := audit.ParseEntry(r.Entry)
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

// closeOf returns the close of a shuffle, from its transcript.
func (d *daemon) closeOf(id uint64) *audit.Close {
	d.t.Helper()
	_, text, err := d.get(fmt.Sprintf("/v1/main/shuffles/%d/transcript", id), "")
	if err != nil {
		d.t.Fatal(err)
	}
	tr, err := openings.ParseTranscript(text)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := audit.ParseReceipt(tr.Receipts[len(tr.Receipts)-1])
	if err != nil {
		d.t.Fatal(err)
	}
	e, err := audit.ParseEntry(r.Entry)
	if err != nil {
		d.t.Fatal(err)
	}
	c, ok := e.Body.(*audit.Close)
	if !ok {
		d.t.Fatalf("shuffle %d ends with %+v", id, e.Body)
	}
	return c
}

// disclosedTape returns the tape of a closed shuffle, to whomever it was disclosed.
func (d *daemon) disclosedTape(id uint64) []byte {
	d.t.Helper()
	if c := d.closeOf(id); c.Form == audit.FormTape {
		return c.Tape
	}
	return d.sealedTape(id)
}

// sealedTape opens the tape of a shuffle that was closed for auditors: with the
// sandbox's auditor key and public entries, and no help from the house.
func (d *daemon) sealedTape(id uint64) []byte {
	d.t.Helper()
	k, err := keys.ReadAuditor(filepath.Join(d.data, "auditor.key"), keys.Secret{})
	if err != nil {
		d.t.Fatal(err)
	}
	a, err := disclosure.NewAuditor(k.Private().Bytes())
	if err != nil {
		d.t.Fatal(err)
	}
	commit, c := d.entry(id).Body.(*audit.Commit), d.closeOf(id)
	if c.Form != audit.FormSealed {
		d.t.Fatalf("shuffle %d ends with %+v", id, c)
	}
	origin := commit.Context.Origin
	o, err := a.Unwrap(origin, d.entry(c.Key).Body.(*audit.Key))
	if err != nil {
		d.t.Fatal(err)
	}
	tape, err := o.Open(origin, id, commit.Commitment, c.Tape)
	if err != nil {
		d.t.Fatal(err)
	}
	return tape
}

// TestAuditorCommands makes keys of auditors and ledgers that name them.
func TestAuditorCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(want int, says string, args ...string) string {
		t.Helper()
		out, err := exec.Command(builtBinary(t), args...).CombinedOutput()
		code := 0
		if exit, ok := err.(*exec.ExitError); ok {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != want || !strings.Contains(string(out), says) {
			t.Errorf("%v: exit %d, want %d with %q:\n%s", args, code, want, says, out)
		}
		return string(out)
	}
	if err := os.WriteFile(at("pass"), []byte("a long passphrase\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := run(term.ExitOK, "shuffled-auditor:v1:", "key", "generate", "auditor", "--out", at("a.key"))
	second := run(term.ExitOK, "shuffled-auditor:v1:", "key", "generate", "auditor", "--out", at("b.key"),
		"--passphrase-file", at("pass"))
	for name, line := range map[string]string{"a": first, "b": second} {
		public, err := os.ReadFile(at(name + ".pub"))
		if err != nil || string(public) != line {
			t.Errorf("%s.pub holds %q, %v; printed was %q", name, public, err, line)
		}
		private := run(term.ExitOK, strings.TrimSpace(line), "key", "show", at(name+".key"),
			"--passphrase-file", at("pass"))
		shown := run(term.ExitOK, "ML-KEM-768 with P-256\n"+strings.TrimSpace(line), "key", "show", at(name+".pub"))
		if private != strings.TrimPrefix(shown, "public ") {
			t.Errorf("key show says of the two files:\n%s%s", private, shown)
		}
		k, err := keys.ReadAuditor(at(name+".key"), keys.NewSecret([]byte("a long passphrase")))
		if err != nil {
			t.Fatal(err)
		}
		found := needle.New()
		found.Bytes("the private key", k.Private().Bytes())
		if in := foundIn(found, []byte(line+private+shown)); len(in) > 0 {
			t.Errorf("printed: %v", in)
		}
	}
	run(term.ExitUsage, "one kind of key", "key", "generate", "--out", at("c.key"))
	run(term.ExitUsage, "--origin", "key", "generate", "auditor", "--origin", "x", "--out", at("c.key"))
	run(term.ExitCannot, "exists", "key", "generate", "auditor", "--out", at("a.key"))

	run(term.ExitOK, "", "migrate", "up", "--data", at("data"))
	create := func(more ...string) []string {
		return append([]string{"ledger", "create", "--house", "casino",
			"--data", at("data"), "--name", "main", "--origin",
			"cards.example.com/main"}, more...)
	}
	run(term.ExitUsage, "--auditor", create("--disclosure", "auditor")...)
	run(term.ExitUsage, "same key", create("--auditor", at("a.pub"), "--auditor", at("a.pub"))...)
	run(term.ExitUsage, "a.key", create("--auditor", at("a.key"))...)
	old, err := ecdh.P256().GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	point := append([]byte{audit.KeyP256}, old.PublicKey().Bytes()...)
	if err := keys.WriteAuditorPublic(at("old.pub"), point); err != nil {
		t.Fatal(err)
	}
	run(term.ExitUsage, "a production ledger needs a hybrid key",
		create("--production", "--deals", "signed", "--auditor", at("old.pub"))...)
	run(term.ExitUsage, "at most 8 times", create(slices.Repeat([]string{"--auditor", at("a.pub")}, 9)...)...)
	run(term.ExitOK, "created", create("--disclosure", "auditor", "--auditor", at("a.pub"),
		"--auditor", at("b.pub"))...)
}
