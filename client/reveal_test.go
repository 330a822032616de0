package client_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// TestReveal shows hands and an exposed burn before the close and with it. What nobody showed stays hidden under
// disclosure to auditors. Who does not own the shuffle reveals nothing of it.
func TestReveal(t *testing.T) {
	t.Parallel()
	for name, disclosure := range map[string]audit.Disclosure{
		"public": audit.DisclosurePublic, "auditor": audit.DisclosureAuditor,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemonWith(t, setting{disclosure: disclosure})
			c := d.client(nil, nil)
			ctx := client.FirstTried(t.Context(), d.start)
			s, err := c.Commit(ctx, "k", client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
			must(t, err)
			dealt, err := c.Deal(ctx, s, client.DealRequest{Runs: slices.Concat(twoSeats.Runs, // places 0 to 4
				[]client.Run{{Count: 1, Purpose: client.PurposeBurn}})})
			must(t, err)
			refused := func(code client.Code, req client.RevealRequest) {
				t.Helper()
				_, err := c.Reveal(ctx, s, req)
				isRefused(t, fmt.Sprint("a reveal of ", req.Places), err, code)
			}
			places := func(p ...int) client.RevealRequest { return client.RevealRequest{Places: p} }
			for _, req := range []client.RevealRequest{places(4), places(5), places(6), places(2, 4), places(2, 6)} {
				refused(client.CodeReveal, req) // public, a burn, not dealt
			}
			refused(client.CodeInvalidRequest, places(2, 2))
			refused(client.CodeInvalidRequest, places(-1))

			shown, err := c.Reveal(ctx, s, places(3, 2))
			if err != nil || !slices.Equal(shown.Places, []int{2, 3}) || !same(t, shown.Cards, dealt.Cards[2:4]) {
				t.Fatalf("%+v, %v", shown, err)
			}
			loaded, err := c.Load(ctx, s.ID)
			must(t, err)
			for _, of := range []*client.Committed{s, loaded} {
				r, err := c.Reveal(ctx, of, places(2, 3))
				if err != nil || r.Repeated == nil || !same(t, r.Cards, shown.Cards) || r.Time != shown.Time {
					t.Errorf("%+v, %v", r, err)
				}
			}
			far := d.client(func(h http.Handler) http.Handler { // a daemon that takes a place modulo 2¹⁶
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.Body = io.NopCloser(strings.NewReader(`{"places":[2,3]}`))
					h.ServeHTTP(w, r)
				})
			}, nil)
			_, err = far.Reveal(ctx, s, places(1<<16+2, 1<<16+3))
			isFault(t, "places that no shuffle has", err, "the reveal in the ledger is another one")
			_, err = d.of(d.newToken(audit.RoleDealer, "rival"), nil).Reveal(ctx, s, places(0))
			isRefused(t, "a reveal of another's hand", err, client.CodeNotYours)
			refused(client.CodeReveal, places(1, 2)) // one of them is public
			burn, err := c.Reveal(ctx, s, client.RevealRequest{Places: []int{5}, Exposed: ptr(true)})
			if err != nil || len(burn.Cards) != 1 || burn.Cards[0].Place != 5 {
				t.Errorf("%+v, %v", burn, err)
			}
			ending, err := c.Close(ctx, s, client.CloseRequest{Outcome: client.OutcomeCompleted, Reveal: []int{0}})
			if err != nil || ending.Reveal == nil || !same(t, ending.Reveal.Cards, dealt.Cards[:1]) ||
				(ending.Tape == nil) != (disclosure == audit.DisclosureAuditor) {
				t.Fatalf("%+v, %v", ending, err)
			}
			refused(client.CodeNotOpen, places(1))
			text, err := d.of("", nil).Transcript(ctx, s.ID, "") // what everybody may see
			must(t, err)
			file, err := openings.ParseTranscript(text)
			must(t, err)
			want := []int{0, 1, 2, 3, 4, 5}
			if disclosure == audit.DisclosureAuditor {
				want = slices.Delete(want, 1, 2) // the card that seat 1 kept
			}
			var got []int
			for _, card := range file.Cards {
				got = append(got, card.Place)
			}
			if !slices.Equal(got, want) {
				t.Errorf("the file opens %v, not %v", got, want)
			}
		})
	}
}
