package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/stops"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// secretForms are the ways in which b could show up in a text.
func secretForms(b []byte) []string {
	var decimal, hexes []string
	for _, x := range b {
		decimal = append(decimal, fmt.Sprint(x))
		hexes = append(hexes, fmt.Sprintf("%#x", x))
	}
	return []string{string(b), hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)),
		strings.Join(decimal, " "), strings.Join(decimal, ","), strings.Join(hexes, ", "), strings.Join(hexes, " "),
		base64.StdEncoding.EncodeToString(b)}
}

// printAll sends v through every way a value gets into a log.
func printAll(values ...any) string {
	var out strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "%T",
			"%p"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		if js, err := json.Marshal(v); err == nil {
			out.Write(js)
		}
		options := &slog.HandlerOptions{Level: slog.LevelDebug}
		slog.New(slog.NewTextHandler(&out, options)).Debug("value", "v", v)
		slog.New(slog.NewJSONHandler(&out, options)).Debug("value", "v", v)
	}
	return out.String()
}

func TestSecretIsNotPrinted(t *testing.T) {
	text := []byte("correct horse battery staple")
	s := NewSecret(text)
	type exported struct{ S Secret }
	type hidden struct{ s Secret }
	type pointer struct{ s *Secret }
	out := printAll(s, &s, exported{s}, hidden{s}, &hidden{s}, pointer{&s}, []Secret{s}, map[string]Secret{"s": s},
		fmt.Errorf("using %v", s))
	for _, form := range secretForms(text) {
		if strings.Contains(out, form) {
			t.Errorf("printed as %q", form)
		}
	}
	if !strings.Contains(out, "[secret]") {
		t.Error("a secret prints as nothing at all")
	}
}

func TestSecretCopies(t *testing.T) {
	b := []byte("abc")
	s := NewSecret(b)
	clear(b)
	if string(s.Bytes()) != "abc" || s.Empty() {
		t.Errorf("%q", s.Bytes())
	}
	var zero Secret
	if !zero.Empty() || zero.Bytes() != nil || !NewSecret(nil).Empty() || fmt.Sprint(zero) != "[secret]" {
		t.Error("the zero Secret is not empty")
	}
}

// put writes a file with exactly this mode.
func put(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(content), 0o600))
	must(t, os.Chmod(path, mode))
	return path
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Mode().Perm()
}

func TestReadSecret(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"pass", "pass"},
		{"pass\n", "pass"},
		{"pass\r\n", "pass"},
		{"pass\n\n", "pass\n"}, // one line end, no more
		{" pass ", " pass "},
		{strings.Repeat("p", maxFile), strings.Repeat("p", maxFile)},
	} {
		s, err := ReadSecret(put(t, "pass", c.content, 0o600))
		if err != nil || string(s.Bytes()) != c.want {
			t.Errorf("%.20q: %.20q, %v", c.content, s.Bytes(), err)
		}
	}
	for _, content := range []string{"", "\n", "\r\n", strings.Repeat("p", maxFile+1)} {
		if s, err := ReadSecret(put(t, "pass", content, 0o600)); err == nil || !s.Empty() {
			t.Errorf("%.20q is a secret", content)
		}
	}
	if _, err := ReadSecret(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestPrivateFileModes tries all 512 modes: accepted are those that give group
// and others nothing, and the owner may read unless root reads everything.
func TestPrivateFileModes(t *testing.T) {
	path := put(t, "pass", "hunter2", 0o600)
	for m := range os.FileMode(0o1000) {
		must(t, os.Chmod(path, m))
		s, err := ReadSecret(path)
		switch {
		case m&0o077 != 0 && m&0o400 != 0:
			if !errors.Is(err, stops.Mode) || !s.Empty() {
				t.Fatalf("mode %04o: %v", m, err)
			}
			if want := fmt.Sprintf("%04o", m); !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), path) {
				t.Fatalf("the error %q does not name file and mode %s", err, want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Fatal("the error holds the secret")
			}
		case m&0o077 != 0:
			if err == nil {
				t.Fatalf("mode %04o: accepted", m)
			}
		case m&0o400 != 0:
			if err != nil {
				t.Fatalf("mode %04o: %v", m, err)
			}
		}
	}
}

// TestTooOpen: nothing for group and others, except that root may let a group
// read what a process of another user needs.
func TestTooOpen(t *testing.T) {
	for _, c := range []struct{ perm, own, rootToOther fs.FileMode }{
		{0o600, 0, 0},
		{0o400, 0, 0},
		{0o700, 0, 0},
		{0o440, 0o040, 0},
		{0o640, 0o040, 0},
		{0o660, 0o060, 0o020},
		{0o450, 0o050, 0o010},
		{0o444, 0o044, 0o004},
		{0o777, 0o077, 0o037},
		{0o601, 0o001, 0o001},
	} {
		if got := tooOpen(c.perm, false); got != c.own {
			t.Errorf("mode %04o: %04o is too much, want %04o", c.perm, got, c.own)
		}
		if got := tooOpen(c.perm, true); got != c.rootToOther {
			t.Errorf("mode %04o from root: %04o is too much, want %04o", c.perm, got, c.rootToOther)
		}
	}
}

// TestOthersRootFile: a file of our own never counts as handed down by root.
func TestOthersRootFile(t *testing.T) {
	info, err := os.Stat(put(t, "own", "x", 0o600))
	must(t, err)
	if othersRootFile(info) {
		t.Error("our own file counts as root's")
	}
	info, err = os.Stat("/")
	must(t, err)
	if os.Geteuid() != 0 && !othersRootFile(info) {
		t.Error("the root directory does not count as root's")
	}
}

func TestReadSecretNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	for _, path := range []string{dir, os.DevNull} {
		if _, err := ReadSecret(path); !errors.Is(err, stops.Mode) {
			t.Errorf("%s: %v", path, err)
		}
	}
	// A link is fine: what it points to is checked.
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(put(t, "pass", "x", 0o600), link))
	if _, err := ReadSecret(link); err != nil {
		t.Error(err)
	}
	open := filepath.Join(dir, "open")
	must(t, os.Symlink(put(t, "pass", "x", 0o644), open))
	if _, err := ReadSecret(open); !errors.Is(err, stops.Mode) {
		t.Errorf("a link to an open file: %v", err)
	}
}

func TestWriteSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	must(t, WriteSecret(path, NewSecret([]byte("tok"))))
	b, err := os.ReadFile(path)
	if err != nil || string(b) != "tok\n" || mode(t, path) != 0o600 {
		t.Errorf("%q with mode %04o, %v", b, mode(t, path), err)
	}
	if err := WriteSecret(path, NewSecret([]byte("other"))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	if s, err := ReadSecret(path); err != nil || string(s.Bytes()) != "tok" {
		t.Errorf("%q, %v: the existing file was touched", s.Bytes(), err)
	}
	// Nor does it follow a dangling link.
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), link))
	if err := WriteSecret(link, NewSecret([]byte("x"))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a dangling link: %v", err)
	}
}

// TestCreateFileFailure: a full disk leaves no half of a key behind.
func TestCreateFileFailure(t *testing.T) {
	if err := WriteSecret(filepath.Join(t.TempDir(), "no", "such", "dir"), NewSecret([]byte("x"))); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestEncryptDecrypt(t *testing.T) {
	const quick = 4 // log2 of the scrypt cost; files get workFactor
	plain, pass := []byte("a private key"), NewSecret([]byte("opensesame"))
	b, err := encrypt(plain, pass, quick)
	must(t, err)
	if bytes.Contains(b, plain) || !bytes.HasPrefix(b, []byte("-----BEGIN AGE")) {
		t.Errorf("not encrypted: %s", b)
	}
	if got, err := decrypt(b, pass); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := decrypt(b, NewSecret([]byte("opensesam"))); !errors.Is(err, ErrPassphrase) || got != nil {
		t.Errorf("wrong passphrase: %q, %v", got, err)
	}
	// No byte of the file can change unnoticed; armor allows no slack either.
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if got, err := decrypt(bad, pass); err == nil {
			t.Errorf("byte %d altered: %q", i, got)
		}
	}
	if got, err := decrypt(b[:len(b)/2], pass); err == nil {
		t.Errorf("cut off: %q", got)
	}
}
