package verify

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/terms"
)

// wheelBytes is a wheel, from docs/SPEC.md section 16.1.
func wheelBytes(labels ...terms.Label) []byte {
	b := []byte{0, byte(len(labels))}
	for _, l := range labels {
		b = append(append(b, byte(len(l.Label))), l.Label...)
		b = binary.BigEndian.AppendUint32(b, l.Weight)
	}
	return b
}

var carWheel = wheelBytes(terms.Label{Label: "nothing", Weight: 3}, terms.Label{Label: "<b>a car</b>", Weight: 2},
	terms.Label{Label: "a trip", Weight: 1})

// under binds a context to a document.
func under(ctx *audit.Context, kind audit.TermsKind, document []byte) *audit.Context {
	ctx.Terms = &audit.Terms{Kind: kind, Hash: audit.TermsHash(kind, document)}
	return ctx
}

// withTerms is the file of a game that has the document.
func withTerms(g *game, document []byte) *openings.Transcript {
	f := g.transcript("")
	f.Terms = document
	return f
}

// wheelGame is three draws of a wheel, moved by a slot.
func wheelGame(t testing.TB) *game {
	h := open(t)
	ctx := under(h.draws(6, 6, 6), audit.TermsWheel, carWheel)
	ctx.Plan = []audit.Planned{{Source: audit.SourceSlot,
		Slot: audit.SlotHash(h.key.name, ctx.Table, hash32("slot 1"))}}
	return h.commitTo(ctx, nil).mix(mixValues()[0]).deal(board(3)).close(audit.OutcomeCompleted, 0)
}

var payTable = []byte("two of a kind: 1\nthree of a kind: 5\n")

// payGame is cards with a pay table.
func payGame(t testing.TB) *game {
	h := open(t)
	ctx := under(h.cards(sixCards), audit.TermsPayTable, payTable)
	return h.commitTo(ctx, sixCards).deal(board(3)).close(audit.OutcomeEndedEarly, 0)
}

func termsFiles(t testing.TB, add adder) {
	means := func(labels ...string) func(*vector) {
		return func(v *vector) {
			v.Want.Terms = &Terms{Kind: "wheel", Hash: hash64(audit.TermsHash(audit.TermsWheel, carWheel)),
				Labels: []terms.Label{{Label: "nothing", Weight: 3}, {Label: "<b>a car</b>", Weight: 2},
					{Label: "a trip", Weight: 1}}}
			if v.Want.Labels = labels; labels == nil {
				v.Want.Terms.Labels = nil
			}
		}
	}
	g := wheelGame(t)
	var shown []string
	shows, err := g.order.Shows(g.values)
	must(t, err)
	for _, value := range shows {
		shown = append(shown, []string{"", "nothing", "nothing", "nothing", "<b>a car</b>", "<b>a car</b>",
			"a trip"}[value])
	}
	add("terms-wheel", "each draw shows a label of the wheel, by its value after the mix",
		marshal(t, withTerms(g, carWheel)), means(shown...))
	add("terms-wheel-absent", "the wheel is not in the file: its values mean nothing", g.file(""), means())
	h := open(t)
	one := h.commitTo(under(h.draws(6), audit.TermsWheel, carWheel), nil).deal(board(1))
	add("terms-wheel-open", "a wheel of an open draw list",
		marshal(t, withTerms(one, carWheel)), means([]string{"", "nothing", "nothing", "nothing", "<b>a car</b>",
			"<b>a car</b>", "a trip"}[one.values[0]]))
	pays := func(text string) func(*vector) {
		return func(v *vector) {
			v.Want.Terms = &Terms{Kind: "pay_table", Text: text,
				Hash: hash64(audit.TermsHash(audit.TermsPayTable, payTable))}
		}
	}
	add("terms-pay-table", "cards with a pay table", marshal(t, withTerms(payGame(t), payTable)),
		pays(string(payTable)))
	add("terms-pay-table-absent", "the pay table is not in the file", payGame(t).file(""), pays(""))
	tickets := &audit.Terms{Kind: audit.TermsTicketList, Count: 80, Hash: hash32("tickets")}
	h = open(t)
	ctx := h.numbers(80, 2)
	ctx.Terms = tickets
	eighty := h.commitTo(ctx, nil).deal(board(2))
	add("terms-tickets", "a list of tickets, and nothing mixed: the house could choose the winner",
		eighty.file(""), func(v *vector) {
			v.Want.Shows = taken(80, eighty.values)
			v.Want.Terms = &Terms{Kind: "ticket_list", Hash: hash64(tickets.Hash), Count: 80, HouseCouldChoose: true}
		})
	raffle := raffleList(t)
	h = open(t)
	ctx = h.numbers(int(raffle.Count), 3)
	ctx.Terms = raffle
	seven := h.commitTo(ctx, nil).deal(board(3)).close(audit.OutcomeCompleted, 0)
	add("terms-raffle", "three of the seven tickets of a list of the vectors of terms",
		seven.file(""), func(v *vector) {
			v.Want.Shows = taken(7, seven.values)
			v.Want.Terms = &Terms{Kind: "ticket_list", Hash: hash64(raffle.Hash), Count: raffle.Count,
				HouseCouldChoose: true}
		})
	largest := []byte(strings.Repeat("a", terms.MaxDocument))
	h = open(t)
	add("terms-largest", "a pay table of 65,536 bytes",
		marshal(t, withTerms(h.commitTo(under(h.draws(6), audit.TermsPayTable, largest), nil), largest)),
		func(v *vector) {
			v.Want.Terms = &Terms{Kind: "pay_table", Text: string(largest),
				Hash: hash64(audit.TermsHash(audit.TermsPayTable, largest))}
		})
}

// taken are the numbers that draws take of 1 to n (docs/SPEC.md section 2.5).
func taken(n int, draws []uint32) (numbers []uint32) {
	a := make([]uint32, n)
	for i := range a {
		a[i] = uint32(i + 1)
	}
	for i, d := range draws {
		j := i + int(d) - 1
		a[i], a[j] = a[j], a[i]
		numbers = append(numbers, a[i])
	}
	return numbers
}

// raffleList is a list of which the vectors of terms hold proofs.
func raffleList(t testing.TB) *audit.Terms {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "terms", "testdata", "terms.json"))
	must(t, err)
	var v struct{ Tickets []struct{ Name, Text string } }
	must(t, json.Unmarshal(b, &v))
	for _, c := range v.Tickets {
		if c.Name == "number 1 of 7" {
			ticket, err := terms.ParseTicket([]byte(c.Text))
			must(t, err)
			return &audit.Terms{Kind: audit.TermsTicketList, Count: ticket.Count, Hash: ticket.Root}
		}
	}
	t.Fatal("no proof of a list of seven tickets")
	return nil
}

func hash64(h [32]byte) string { return base64.StdEncoding.EncodeToString(h[:]) }

func badTerms(b *badAdder) {
	edit := func(step, name, about string, document []byte) {
		b.file(step, "terms-"+name, about, marshal(b.T, withTerms(wheelGame(b.T), document)))
	}
	edit(stepTerms, "weight", "another weight than was committed to",
		wheelBytes(terms.Label{Label: "nothing", Weight: 2}, terms.Label{Label: "<b>a car</b>", Weight: 3},
			terms.Label{Label: "a trip", Weight: 1}))
	edit(stepTerms, "other-kind", "a pay table in place of a wheel", payTable)
	edit(stepTerms, "cut", "a wheel that ends in its last weight", carWheel[:len(carWheel)-1])
	edit(stepTerms, "more", "a byte after the wheel", append(slices.Clone(carWheel), 0))
	text := func(step, name, about, member string) {
		b.text(step, "terms-"+name, about, string(marshal(b.T, withTerms(wheelGame(b.T), carWheel))),
			base64.StdEncoding.EncodeToString(carWheel), member)
	}
	text(stepFormat, "unpadded", "base64 without padding", strings.Repeat("AAAA", 2)+"AA")
	text(stepFormat, "stray-bits", "base64 with stray bits", "AB==")
	text(stepFormat, "spaces", "base64 with a newline", `AAAA\nAAAA`)
	edit(stepFormat, "too-long", "65,537 bytes", make([]byte, terms.MaxDocument+1))
	b.file(stepTerms, "terms-none-bound", "a document in the file of a shuffle that binds none",
		marshal(b.T, withTerms(plain(b.T), payTable)))
	// The house commits to what is no wheel of the draws.
	dishonest := func(step, name, about string, kind audit.TermsKind, document []byte, ranges ...uint32) {
		h := open(b.T).cheating()
		g := h.commitTo(under(h.draws(ranges...), kind, document), nil).deal(board(len(ranges)))
		b.file(step, "terms-"+name, about, marshal(b.T, withTerms(g, document)))
	}
	dishonest(stepTerms, "rest", "weights that do not add up to the range: a rest for the house",
		audit.TermsWheel, carWheel, 7, 7)
	dishonest(stepTerms, "beyond", "weights that add up to more than the range", audit.TermsWheel, carWheel, 5)
	dishonest(stepTerms, "same-label", "a label twice", audit.TermsWheel,
		wheelBytes(terms.Label{Label: "a", Weight: 3}, terms.Label{Label: "a", Weight: 3}), 6)
	dishonest(stepTerms, "hidden-label", "a label with a character that does not show", audit.TermsWheel,
		wheelBytes(terms.Label{Label: "a", Weight: 3}, terms.Label{Label: "a\u200b", Weight: 3}), 6)
	dishonest(stepTerms, "control", "a pay table that turns the direction of text", audit.TermsPayTable,
		[]byte("pays \u202e001"), 6)
	drawn := func(step, name, about string, count uint64, document []byte) {
		h := open(b.T).cheating()
		ctx := h.numbers(80, 2)
		ctx.Terms = &audit.Terms{Kind: audit.TermsTicketList, Count: count, Hash: hash32("tickets")}
		b.file(step, "terms-"+name, about, marshal(b.T, withTerms(h.commitTo(ctx, nil).deal(board(2)), document)))
	}
	drawn(stepLegality, "tickets-fewer", "fewer tickets than numbers: phantom numbers", 79, nil)
	drawn(stepTerms, "tickets-document", "a document with a list of tickets", 80, payTable)
	dishonest(stepLegality, "ranges", "a wheel of different ranges", audit.TermsWheel, carWheel, 6, 7)
	h := open(b.T).cheating()
	g := h.commitTo(under(h.cards(sixCards), audit.TermsWheel, carWheel), sixCards)
	b.file(stepLegality, "terms-wheel-cards", "a wheel with cards", marshal(b.T, withTerms(g, carWheel)))
}

// TestWinner: the house could choose the winner of a list of tickets unless the numbers are mixed for everybody.
func TestWinner(t *testing.T) {
	for _, c := range []struct {
		kind  string
		mixed []Mixed
		want  bool
	}{
		{"ticket_list", nil, true}, {"ticket_list", []Mixed{{For: ForSlot}}, true},
		{"ticket_list", []Mixed{{For: ForEverybody}, {For: ForSlot}}, false}, {"wheel", nil, false},
	} {
		f := &transcript{evidence: evidence{v: new(Verdict), trust: new(trusted)}}
		f.v.Mixed, f.v.Terms = c.mixed, &Terms{Kind: c.kind}
		if f.winner(); f.v.Terms.HouseCouldChoose != c.want {
			t.Errorf("%s, mixed %v: %t", c.kind, c.mixed, f.v.Terms.HouseCouldChoose)
		}
	}
}
