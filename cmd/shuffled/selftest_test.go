package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/selftest"
	"shuffled/internal/term"
)

// wrongAnswer is the variable that makes answers wrong, in a build of this test
// alone: the name of a known-answer test, or * for all.
const wrongAnswer = "SHUFFLED_WRONG_ANSWER"

// wrongBinary builds the command with one file replaced: answers.go with one
// statement more, in front of the one comparison of all answers.
func wrongBinary(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../internal/known/answers.go")
	if err != nil {
		t.Fatal(err)
	}
	text := string(contents(t, path))
	for old, with := range map[string]string{
		"import (\n": "import (\n\t\"os\"\n",
		"\tif got != want {": "\tif w := os.Getenv(\"" + wrongAnswer +
			"\"); w == a.Test || w == \"*\" {\n\t\tgot = \"wrong\"\n\t}\n\tif got != want {",
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("answers.go has no single %q to replace", old)
		}
		text = strings.Replace(text, old, with, 1)
	}
	dir := t.TempDir()
	replacement, overlay, binary := filepath.Join(dir, "answers.go"), filepath.Join(dir, "overlay.json"),
		filepath.Join(dir, "shuffled")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: replacement}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(replacement, []byte(text), 0o600),
		os.WriteFile(overlay, list, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("building with wrong answers: %v\n%s", err, out)
	}
	lab := exec.Command("go", "build", "-overlay", overlay, "-o", binary+"-lab", "./cmd/shuffled-lab")
	lab.Dir = filepath.FromSlash("../../lab")
	if out, err := lab.CombinedOutput(); err != nil {
		t.Fatalf("building the lab with wrong answers: %v\n%s", err, out)
	}
	return binary
}

// occupied is an address that a listener of this test has: anyone who came as far as
// opening its port there would say so.
func occupied(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// runWith runs a binary to its end with one variable more.
func runWith(t *testing.T, variable, binary string, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), variable)
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

// TestSelfTestsStop: each known-answer test, made to fail, stops the daemon with
// code 3 and its name, before a port is open and before anything is written.
func TestSelfTestsStop(t *testing.T) {
	t.Parallel()
	real := builtBinary(t)
	wrong, addr := wrongBinary(t), occupied(t)
	for binary, want := range map[string]bool{real: false, wrong: true} {
		if bytes.Contains(contents(t, binary), []byte(wrongAnswer)) != want {
			t.Errorf("%s holds the variable: %t", binary, !want)
		}
	}
	// With right answers, the daemon comes as far as its port.
	serve := func(t *testing.T, variable string) (code int, out, data string) {
		data = filepath.Join(t.TempDir(), "data")
		code, out = runWith(t, variable, wrong, "serve", "--dev", "--data", data, "--listen", addr)
		return code, out, data
	}
	if code, out, _ := serve(t, wrongAnswer+"="); code != term.ExitCannot ||
		!strings.Contains(out, "another program listens at") || strings.Contains(out, "tests failed") {
		t.Fatalf("with right answers: %d: %s", code, out)
	}
	results := selftest.Run()
	if len(results) < 40 {
		t.Fatalf("only %d tests", len(results))
	}
	for _, r := range results {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			code, out, data := serve(t, wrongAnswer+"="+r.Name)
			if code != term.ExitCannot || !strings.Contains(out, " known-answer tests failed: "+r.Name+" (") ||
				!strings.Contains(out, "error: 1 of ") {
				t.Errorf("code %d: %s", code, out)
			}
			if strings.Contains(out, "listening") || strings.Contains(out, "another program listens at") {
				t.Errorf("it came as far as its port: %s", out)
			}
			if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it made its data directory: %v", err)
			}
		})
	}
	t.Run("every answer", func(t *testing.T) { everyAnswerFails(t, wrong, results) })
	t.Run("every command", func(t *testing.T) { commandsStop(t, wrong) })
}

// everyAnswerFails: no answer of any test is compared with itself.
func everyAnswerFails(t *testing.T, wrong string, results []selftest.Result) {
	code, out := runWith(t, wrongAnswer+"=*", wrong, "selftest", "--json")
	var report selftestReport
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if code != term.ExitCannot || report.Passed || len(report.Results) != len(results) {
		t.Errorf("code %d, passed %t, %d of %d tests", code, report.Passed, len(report.Results), len(results))
	}
	for i, r := range report.Results {
		if r.Name != results[i].Name || len(r.Wrong) != len(r.Answers) {
			t.Errorf("%s: %d of %d answers are wrong", r.Name, len(r.Wrong), len(r.Answers))
		}
	}
}

// commandsStop: what signs, judges or shows stops as the daemon does; the version can be asked for.
func commandsStop(t *testing.T, wrong string) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"demo"}, {"verify", "x.json"}, {"audit", "verify", dir},
		{"key", "generate", "sealing", "--out", filepath.Join(dir, "key")},
		{"slot", "new", "--origin", "example.org/main", "--table", "t"},
		{"lab", "raw", "--bytes", "1"}, {"selftest"},
	} {
		if code, out := runWith(t, wrongAnswer+"=sha-256", wrong, args...); code != term.ExitCannot ||
			!strings.Contains(out, "known-answer tests failed: sha-256 (") {
			t.Errorf("%q: %d: %s", args, code, out)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("a command wrote something: %v, %v", entries, err)
	}
	if code, out := runWith(t, wrongAnswer+"=sha-256", wrong, "version"); code != term.ExitOK ||
		!strings.Contains(out, "shuffled/v1") {
		t.Errorf("version: %d: %s", code, out)
	}
}

// TestModuleSelfTestsStop: Go's FIPS 140-3 module has known-answer tests of its own. Some run when the process begins
// and some at first use, which the tests of this program are: all of them stop a daemon before its port is open.
func TestModuleSelfTestsStop(t *testing.T) {
	t.Parallel()
	binary := builtBinary(t)
	addr := occupied(t)
	for _, cast := range []string{"CTR_DRBG", "SHA2-256", "HMAC-SHA2-256", "HKDF-SHA2-256", "AES-CBC", "SHA2-512",
		"Ed25519 sign and verify", "KAS-ECC-SSC P-256"} {
		t.Run(cast, func(t *testing.T) {
			t.Parallel()
			code, out := runWith(t, "GODEBUG=fips140=on,failfipscast="+cast, binary, "serve", "--dev", "--data",
				filepath.Join(t.TempDir(), "data"), "--listen", addr)
			if code == term.ExitOK || !strings.Contains(out, "FIPS 140-3 self-test failed: "+cast) ||
				strings.Contains(out, "listening") {
				t.Errorf("code %d: %s", code, out)
			}
		})
	}
}

// TestSelfTestCommand shows what a lab reads.
func TestSelfTestCommand(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := run(t.Context(), []string{"selftest"}, term.Streams{Out: &out, Err: &out}); code != term.ExitOK {
		t.Fatalf("code %d: %s", code, &out)
	}
	for _, want := range []string{"sha-256 ", "FIPS 180-4", "SPEC 2.1", "sealed-tape", " known-answer tests passed, "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	out.Reset()
	var report selftestReport
	if code := run(t.Context(), []string{"selftest", "--json"},
		term.Streams{Out: &out, Err: &out}); code != term.ExitOK {
		t.Fatalf("code %d: %s", code, &out)
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(report.Results, func(r selftest.Result) bool { return r.Name == "shuffle" })
	if !report.Passed || report.Tests != len(report.Results) || i < 0 ||
		!slices.Contains(report.Results[i].Answers, "all of 52 cards") {
		t.Errorf("%+v", report)
	}
}
