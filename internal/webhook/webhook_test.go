package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/follow"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

const (
	address = "https://back-end.example.org/shuffled"
	origin  = "cards.example.org/main"
)

// book is a ledger in which each entry opens a table.
type book struct {
	mu      sync.Mutex
	size    uint64
	changed chan struct{}
}

func (b *book) grow(n uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size += n
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *book) Info() ledger.Info { return ledger.Info{Name: "main"} }
func (b *book) Live() ledger.Live { return ledger.Live{} }
func (b *book) Head() ledger.Head {
	b.mu.Lock()
	defer b.mu.Unlock()
	return ledger.Head{Size: b.size}
}
func (b *book) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
func (b *book) ClosingBy(context.Context, int64) ([]audit.OpenRef, error) { return nil, nil }
func (b *book) Entries(_ context.Context, from, to uint64) (all []audit.Placed, err error) {
	for i := from; i < to; i++ {
		all = append(all, audit.Placed{Index: i, Entry: audit.Entry{Body: &audit.Event{Kind: audit.EventTableOpen,
			Name: "t"}}})
	}
	return all, nil
}

// try is one request that came.
type try struct {
	at     time.Time
	header http.Header
	body   []byte
}

// receiver answers as it is told to, and with 204 from then on.
type receiver struct {
	mu      sync.Mutex
	answers []func(*http.Request) (*http.Response, error)
	came    []try
	others  []string // addresses of others that were asked
}

func status(code int, location string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: http.Header{"Location": {location}},
			Body: io.NopCloser(strings.NewReader("no"))}, nil
	}
}

// silent does not answer.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// broken ends the connection.
func broken(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func (r *receiver) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.URL.String() != address || q.Method != http.MethodPost {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.others = append(r.others, fmt.Sprint(q.Method, " ", q.URL))
		return nil, errors.New("not the address")
	}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.came = append(r.came, try{time.Now(), q.Header, body})
	answer := status(http.StatusNoContent, "")
	if len(r.answers) > 0 {
		answer, r.answers = r.answers[0], r.answers[1:]
	}
	r.mu.Unlock()
	return answer(q)
}

// stage is a ledger with a sender to a receiver.
type stage struct {
	*Sender
	book *book
	r    *receiver
	key  keys.WebhookKey
	stop func() // returns when nothing runs any more
}

// start has a sender run that keeps its place in file.
func start(t *testing.T, b *book, file string, answers ...func(*http.Request) (*http.Response, error)) *stage {
	t.Helper()
	feed := follow.New(follow.Config{Ledger: b, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	key := keys.GenerateWebhook()
	s, err := New(Config{URL: address, Ledger: "main", Origin: origin, Size: b.Head().Size, File: file, Feed: feed,
		Key: key, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{answers: answers}
	s.http.Transport = r
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { feed.Run(ctx) })
	running.Go(func() { s.Run(ctx) })
	return &stage{s, b, r, key, func() { cancel(); running.Wait() }}
}

// TestTries: a delivery is sent again with the same name and bytes and a new time, after pauses
// that grow to a bound, until it is taken. Then the next one follows, without a gap.
func TestTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := []func(*http.Request) (*http.Response, error){silent, broken, status(500, ""),
			status(307, "https://elsewhere.example.org/"), status(304, ""), status(404, ""), broken, broken, silent}
		pauses := []int{1, 2, 4, 8, 16, 32, 60, 60, 60}
		b := &book{size: 5, changed: make(chan struct{})}
		s := start(t, b, filepath.Join(t.TempDir(), "place"), answers...)
		b.grow(3)
		time.Sleep(2 * time.Second)
		b.grow(300) // in that time
		time.Sleep(3 * time.Minute)
		if st := s.Status(); st.Failed == 0 || st.Failing < time.Minute || st.Behind != 303 || st.Ledger != "main" ||
			st.Host != "back-end.example.org" {
			t.Errorf("%+v", st)
		}
		time.Sleep(time.Hour)
		if st := s.Status(); st.Failed != uint64(len(answers)) || st.Failing != 0 || st.Behind != 0 {
			t.Errorf("%+v", st)
		}
		s.stop()
		if len(s.r.others) > 0 {
			t.Errorf("%q was asked", s.r.others)
		}
		first := s.r.came[0]
		for i, pause := range pauses {
			again := s.r.came[i+1]
			want := time.Duration(pause) * time.Second
			if i == 0 || i == 8 {
				want += answerTime // nobody answered
			}
			if got := again.at.Sub(s.r.came[i].at); got != want {
				t.Errorf("try %d comes after %v, not %v", i+2, got, want)
			}
			if id := "Webhook-Id"; again.header.Get(id) != first.header.Get(id) ||
				string(again.body) != string(first.body) {
				t.Errorf("try %d is another delivery", i+2)
			}
		}
		place, index := uint64(5), uint64(5)
		for i, one := range s.r.came {
			d, err := client.ReadWebhook(origin, one.header, one.body, one.at, s.key.Public())
			if err != nil || strings.Contains(one.header.Get("Webhook-Id"), ".") {
				t.Fatalf("try %d: %v, %v", i+1, err, one.header)
			}
			if i < len(answers) {
				continue
			}
			if d.From != place || d.Next <= d.From || d.Ledger != "main" || d.Origin != origin {
				t.Errorf("from %d to %d, behind %d", d.From, d.Next, place)
			}
			for _, e := range d.Events {
				if *e.Index != index {
					t.Fatalf("entry %d instead of %d", *e.Index, index)
				}
				index++
			}
			place = d.Next
		}
		if place != 308 || index != 308 {
			t.Errorf("%d were told", index)
		}
	})
}

// TestRestart: what is started again goes on behind what was taken, and sends again what was not.
func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), File("main", address))
		b := &book{size: 5, changed: make(chan struct{})}
		s := start(t, b, file, status(200, ""), silent)
		b.grow(1)
		time.Sleep(time.Second)
		b.grow(1)
		time.Sleep(time.Second)
		s.stop() // while the receiver does not answer
		if text, err := os.ReadFile(file); string(text) != "6\n" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		b.grow(1)
		s = start(t, b, file)
		time.Sleep(time.Minute)
		s.stop()
		d, err := client.ReadWebhook(origin, s.r.came[0].header, s.r.came[0].body, s.r.came[0].at, s.key.Public())
		if err != nil || d.From != 6 || *d.Events[0].Index != 6 {
			t.Errorf("%+v, %v", d, err)
		}
		if text, err := os.ReadFile(file); string(text) != "8\n" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// TestPlaceFile: a file that says nothing, or an entry that the ledger does not have, is refused:
// a sender that waited for that entry would leave out all before it.
func TestPlaceFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "place")
	cfg := Config{URL: address, Ledger: "main", Origin: origin, Size: 5, File: file, Log: slog.Default()}
	for _, text := range []string{"", "x", "-1", "6", "5 6", "0x1", "99999999999999999999"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := file + " does not hold an index"
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if kept, err := os.ReadFile(file); string(kept) != text || err != nil {
			t.Errorf("%q became %q, %v", text, kept, err)
		}
	}
	for _, text := range []string{"0", "5\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := New(cfg); err != nil || fmt.Sprint(s.next) != strings.TrimSpace(text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if s, err := New(cfg); err != nil || s.next != 5 {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); string(text) != "5\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	cfg.File = filepath.Join(file, "below a file")
	if _, err := New(cfg); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	cfg.File, cfg.URL = file, "https://user:secret@back-end.example.org/"
	if _, err := New(cfg); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
