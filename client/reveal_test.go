package client_test

import (
	"fmt"
	"slices"
	"testing"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// TestReveal shows hands and an exposed burn before the close and with it. What nobody showed
// stays hidden under disclosure to auditors.
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
				again, err := c.Reveal(ctx, of, places(2, 3))
				if err != nil || again.Repeated == nil || !same(t, again.Cards, shown.Cards) ||
					!again.Time.Equal(shown.Time.Time) {
					t.Errorf("%+v, %v", again, err)
				}
			}
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

// TestRevealOfAnother: who does not own the shuffle reveals nothing of it.
func TestRevealOfAnother(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	c := d.client(nil, nil)
	s, err := c.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
	must(t, err)
	if _, err := c.Deal(t.Context(), s, twoSeats); err != nil {
		t.Fatal(err)
	}
	other := d.of(d.newToken(audit.RoleDealer, "rival"), nil)
	_, err = other.Reveal(t.Context(), s, client.RevealRequest{Places: []int{0}})
	isRefused(t, "a reveal of another's hand", err, client.CodeNotYours)
}
