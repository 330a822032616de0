package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestNewKey(t *testing.T) {
	for _, n := range []int{0, 16, 31, 33, 64} {
		secret := testSecret(0)
		for len(secret) < n {
			secret = append(secret, 5)
		}
		if k, err := NewKey(secret[:n]); k != nil || err == nil {
			t.Errorf("a key of %d bytes: %v", n, err)
		}
	}
	for _, b := range []byte{0, 0xff} {
		if k, err := NewKey(bytes.Repeat([]byte{b}, KeySize)); k != nil || err == nil {
			t.Errorf("a key of %d bytes %#x: %v", KeySize, b, err)
		}
	}
	for different := range KeySize { // one byte that differs is enough
		almost := make([]byte, KeySize)
		almost[different] = 1
		if _, err := NewKey(almost); err != nil {
			t.Error(err)
		}
	}
}

// TestNewKeyCopies: wiping the caller's bytes does not change the key.
func TestNewKeyCopies(t *testing.T) {
	secret := testSecret(3)
	k, err := NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	sealed := mustSeal(t, testRing(t, k), origin, [32]byte{}, []byte("tape"))
	clear(secret)
	for _, ring := range []*Keyring{testRing(t, k), testRing(t, testKey(t, 3))} {
		if _, err := ring.Open(origin, [32]byte{}, sealed); err != nil {
			t.Error(err)
		}
	}
}

func TestNewKeyringRefuses(t *testing.T) {
	a, b := testKey(t, 1), testKey(t, 2)
	for name, keys := range map[string][]*Key{
		"no current key": {nil, a},
		"no older key":   {a, nil},
		"the same twice": {a, a},
		"older twice":    {a, b, b},
		"equal keys":     {a, b, testKey(t, 1)},
	} {
		if r, err := NewKeyring(keys[0], keys[1:]...); r != nil || err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestNothingPrintsAKey sends a key through every way a value gets into a log
// and looks for its bytes in hexadecimal, decimal, base64 and raw form.
func TestNothingPrintsAKey(t *testing.T) {
	k := testKey(t, 0x41)
	secret := testSecret(0x41)
	ring := testRing(t, k)
	type exported struct{ Key *Key }
	type hidden struct{ key *Key }
	type embedded struct{ key Key }
	values := []any{k, *k, ring, exported{k}, &exported{k}, hidden{k}, embedded{*k}, &embedded{*k},
		[]*Key{k}, []Key{*k}, map[string]Key{"k": *k}, errors.Join(fmt.Errorf("using %v", k))}

	var out strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "%T",
			"%p"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		if js, err := json.Marshal(v); err == nil {
			out.Write(js)
		}
		for _, h := range []slog.Handler{
			slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}),
			slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}),
		} {
			slog.New(h).Debug("key", "value", v)
		}
	}
	text := out.String()
	if !strings.Contains(text, k.ID().String()) {
		t.Error("the id is not printed")
	}
	part := secret[4:12]
	var decimal, hexes []string
	for _, b := range part {
		decimal = append(decimal, fmt.Sprint(b))
		hexes = append(hexes, fmt.Sprintf("%#x", b))
	}
	for _, needle := range []string{
		string(part), hex.EncodeToString(part), strings.ToUpper(hex.EncodeToString(part)),
		strings.Join(decimal, " "), strings.Join(decimal, ","), strings.Join(hexes, ", "), strings.Join(hexes, " "),
		base64.StdEncoding.EncodeToString(secret)[:12], fmt.Sprintf("%08b %08b", part[0], part[1]),
		fmt.Sprintf("%U %U", part[0], part[1]), fmt.Sprintf("%o %o %o", part[0], part[1], part[2]),
	} {
		if strings.Contains(text, needle) {
			t.Errorf("the secret is printed as %q", needle)
		}
	}
}

// TestPrintsID: key, pointer and collections print and log as the id.
func TestPrintsID(t *testing.T) {
	k := testKey(t, 1)
	want := "sealing key " + k.ID().String()
	for _, v := range []any{k, *k, []Key{*k}, []*Key{k}} {
		if got := strings.Trim(fmt.Sprintf("%+v", v), "[]"); got != want {
			t.Errorf("%T prints as %q", v, got)
		}
	}
	for _, v := range []any{k, *k} {
		var out strings.Builder
		slog.New(slog.NewTextHandler(&out, nil)).Info("loaded", "key", v)
		if !strings.Contains(out.String(), `key="`+want+`"`) {
			t.Errorf("%T logs as %s", v, out.String())
		}
	}
}

func TestPrintNilKey(t *testing.T) {
	var k *Key
	if got := fmt.Sprintf("%v", k); !strings.Contains(got, "nil") {
		t.Errorf("%q", got)
	}
}
