package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shuffled/internal/beacon"
	"shuffled/internal/beacon/beacontest"
)

// recorded is what a relay answers for round 1000.
const recorded = `{"round":1000,"randomness":"fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd","signature":"b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"}`

const path = "/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971/public/1000"

// relay starts one that answers every request, and counts them.
func relay(t *testing.T, status int, body string) (at string, asked *int) {
	t.Helper()
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		if r.Method != http.MethodGet || r.URL.Path != path && r.URL.Path != "/relay"+path {
			t.Errorf("%s %s was asked", r.Method, r.URL.Path)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestFetch(t *testing.T) {
	t.Parallel()
	good, asked := relay(t, http.StatusOK, recorded)
	spare, spared := relay(t, http.StatusOK, recorded)
	for _, at := range []string{good, good + "/", good + "/relay", good + "/relay/"} {
		sig, err := Fetch(t.Context(), []string{at, spare}, 1000)
		if err != nil || sig != beacontest.Signature(1000) {
			t.Errorf("%s: %x, %v", at, sig, err)
		}
	}
	if *asked != 4 || *spared != 0 {
		t.Errorf("the relay was asked %d times, the spare one %d", *asked, *spared)
	}
}

// TestNoRedirect: a relay that sends elsewhere is one without an answer.
func TestNoRedirect(t *testing.T) {
	t.Parallel()
	elsewhere, asked := relay(t, http.StatusOK, recorded)
	moves := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusFound)
	}))
	defer moves.Close()
	_, err := Fetch(t.Context(), []string{moves.URL}, 1000)
	if err == nil || !strings.Contains(err.Error(), "status 302") || *asked != 0 {
		t.Errorf("%v; the other server was asked %d times", err, *asked)
	}
}

// TestNextRelay: what one relay cannot say the next does, whatever the first says.
func TestNextRelay(t *testing.T) {
	t.Parallel()
	good, _ := relay(t, http.StatusOK, recorded)
	forged := strings.Replace(recorded, "b446", "b447", 1)
	const signature = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
	other := strings.Replace(recorded, signature, fmt.Sprintf("%x", beacontest.Signature(1001)), 1)
	for name, c := range map[string]struct {
		status     int
		body, want string
		is         error
	}{
		"another round":      {200, strings.Replace(recorded, "1000", "1001", 1), "relay answers with round 1001", nil},
		"a forged signature": {200, forged, "not the chain's signature", beacon.ErrSignature},
		"of another round":   {200, other, "not the chain's signature", beacon.ErrSignature},
		"a short signature":  {200, strings.Replace(recorded, "5e39", "", 1), "48 bytes in hexadecimal", nil},
		"no hexadecimal":     {200, strings.Replace(recorded, "b446", "x446", 1), "48 bytes in hexadecimal", nil},
		"no JSON":            {200, "<html>", "no JSON", nil},
		"nothing":            {200, "", "no JSON", nil},
		"trailing data":      {200, recorded + "{}", "no JSON", nil},
		"without end":        {200, `{"x":"` + strings.Repeat("x", 1<<20), "more than 16384 bytes", nil},
		"an error":           {500, recorded, "status 500", nil},
		"not found":          {404, "", "status 404: the round is not published yet", nil},
		"too early":          {425, "", "status 425: the round is not published yet", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, asked := relay(t, c.status, c.body)
			_, err := Fetch(t.Context(), []string{bad}, 1000)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), bad) {
				t.Errorf("alone: %v", err)
			}
			if errors.Is(err, beacon.ErrSignature) != (c.is != nil) {
				t.Errorf("%v: want %v", err, c.is)
			}
			if sig, err := Fetch(t.Context(), []string{bad, good}, 1000); err != nil ||
				sig != beacontest.Signature(1000) {
				t.Errorf("with another: %v", err)
			}
			if *asked != 2 {
				t.Errorf("it was asked %d times", *asked)
			}
		})
	}
}

// TestEveryRelayIsNamed: the error says of each what it answered, and nothing of a password in its address.
func TestEveryRelayIsNamed(t *testing.T) {
	t.Parallel()
	broken, _ := relay(t, 500, "")
	early, _ := relay(t, 425, "")
	closed := httptest.NewServer(nil)
	closed.Close()
	secret := strings.Replace(closed.URL, "http://", "http://operator:hunter2@", 1)
	_, err := Fetch(t.Context(), []string{broken, secret, early, "ftp://relay.invalid"}, 1000)
	text := fmt.Sprint(err)
	for _, want := range []string{"fetching round 1000: ", broken + ": status 500; ", "holds a user name or password",
		early + ": status 425: the round is not published yet; ", "is no http or https address"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("a password in %s", text)
	}
}

// TestCancelled asks nobody any more.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	good, asked := relay(t, http.StatusOK, recorded)
	if _, err := Fetch(ctx, []string{good, good}, 1000); !errors.Is(err, context.Canceled) || *asked != 0 {
		t.Errorf("asked %d times: %v", *asked, err)
	}
}
