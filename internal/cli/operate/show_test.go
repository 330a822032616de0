package operate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// TestShowPrint: a line for each thing that a person asks of a shuffle.
func TestShowPrint(t *testing.T) {
	t.Parallel()
	at := client.Timestamp{Time: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)}
	yes, no, id := true, false, uint64(7)
	plan := &client.Plan{Slots: []client.Hash{{1}, {2}}, Beacon: &client.Round{Round: 34169524, Time: at}, Cut: true}
	for name, test := range map[string]struct {
		state client.Status
		want  []string // lines
		not   string
	}{
		"open": {client.Status{ShuffleState: client.ShuffleState{State: "open", Next: 3},
			Terms: client.Terms{Places: 52}},
			[]string{"  places      3 of 52 dealt", "  close by    2026-03-14 15:09:26 UTC"}, "cut card"},
		"overdue": {client.Status{ShuffleState: client.ShuffleState{State: "overdue"}},
			[]string{"  close by    2026-03-14 15:09:26 UTC: overdue, the daemon closes it as expired"}, "closed  "},
		"waits for its mix": {client.Status{ShuffleState: client.ShuffleState{State: "open", Mixed: &no},
			Terms: client.Terms{Plan: plan}}, []string{
			"  slot 1      AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
			"  slot 2      AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
			"  beacon      round 34169524 of drand's quicknet, out at 2026-03-14 15:09:26 UTC",
			"  cut         by a player",
			"  mix         not recorded yet: shuffled mix 2 --slot VALUE --slot VALUE --cut N"}, "yes"},
		"mixed": {client.Status{ShuffleState: client.ShuffleState{State: "open", Mixed: &yes},
			Terms: client.Terms{Plan: plan}}, []string{"  mix         recorded"}, "not yet"},
		"never mixed": {client.Status{ShuffleState: client.ShuffleState{State: "closed", Mixed: &no},
			Terms: client.Terms{Plan: plan}}, []string{"  mix         never recorded"}, "not yet"},
		"a child": {client.Status{ShuffleState: client.ShuffleState{State: "open"},
			Terms: client.Terms{Parent: &id, Previous: &id}},
			[]string{"  cards of    shuffle 7, shuffled again", "  previous    shuffle 7 of this table"}, "mixed"},
		"a cut card": {client.Status{ShuffleState: client.ShuffleState{State: "open"},
			Terms: client.Terms{EndAt: &client.EndAt{Lo: 380, Hi: 380}}}, []string{"  cut card    at place 380"},
			"last"},
		"a drawn one": {client.Status{ShuffleState: client.ShuffleState{State: "open", LastHand: &no},
			Terms: client.Terms{EndAt: &client.EndAt{Lo: 380, Hi: 400}}},
			[]string{"  cut card    drawn from places 380 to 400"}, "last"},
		"the last one": {client.Status{ShuffleState: client.ShuffleState{State: "open", LastHand: &yes},
			Terms: client.Terms{EndAt: &client.EndAt{Lo: 380, Hi: 400}}},
			[]string{"  cut card    drawn from places 380 to 400; it has come out, this hand is the last"}, "overdue"},
		"dice": {client.Status{ShuffleState: client.ShuffleState{State: "open"},
			Terms: client.Terms{Ranges: []uint32{6, 20}}}, []string{"  draws       1-6, 1-20"}, "more"},
		"many dice": {client.Status{ShuffleState: client.ShuffleState{State: "open"},
			Terms: client.Terms{Ranges: make([]uint32, 15)}},
			[]string{"  draws       1-0, 1-0, 1-0, 1-0, 1-0, 1-0, 1-0, 1-0, 1-0, 1-0, 1-0, 1-0 and 3 more"},
			"cards of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			test.state.ID, test.state.Table, test.state.CloseBy = 2, "t", at
			(&ShowCmd{Flags: remote.Flags{Ledger: "main"}}).print(term.Streams{Out: &out}, &test.state)
			for _, line := range test.want {
				if !strings.Contains(out.String(), "\n"+line+"\n") {
					t.Errorf("no line %q in\n%s", line, out.String())
				}
			}
			if strings.Contains(out.String(), test.not) {
				t.Errorf("%q in\n%s", test.not, out.String())
			}
		})
	}
}

// TestDealtHands: what a drawn value shows after its mix stands for the value.
func TestDealtHands(t *testing.T) {
	t.Parallel()
	anna, ace := "anna", "As"
	runs := []client.Run{{Count: 1, Purpose: "seat", Recipient: &anna}, {Count: 2, Purpose: "board"}}
	texts := func(d *client.Deal) (got []string) {
		for _, h := range dealtHands(runs, d, term.Plain) {
			for _, c := range h.Cards {
				got = append(got, h.Label+" "+c.Text)
			}
		}
		return got
	}
	draws := &client.Deal{Cards: []client.Card{{Value: 1}, {Value: 2}, {Value: 3}}, Shows: []uint32{6, 5, 4}}
	if diff := cmp.Diff([]string{"anna 6", "board 5", "board 4"}, texts(draws)); diff != "" {
		t.Errorf("draws (-want +got)\n%s", diff)
	}
	cards := &client.Deal{Cards: []client.Card{{Card: &ace}, {Card: &ace}, {Card: &ace}}}
	if diff := cmp.Diff([]string{"anna As", "board As", "board As"}, texts(cards)); diff != "" {
		t.Errorf("cards (-want +got)\n%s", diff)
	}
}
