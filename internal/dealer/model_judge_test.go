package dealer_test

import (
	"context"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/inspect"
	"shuffled/internal/verify"
)

// judge makes every answered request once more, proves every transcript, and audits the exported ledger.
func (m *model) judge() {
	r := m.r
	for _, a := range m.answered {
		m.repeated(r, a, player{table: m.tb})
	}
	for _, p := range m.plays {
		b, err := m.tb.Transcript(context.Background(), p.id, api.View{Identity: "tester"})
		if err != nil {
			r.Fatal(err)
		}
		if v := verify.Transcript(b, verify.Trust{VKey: m.tb.vkey}); v.Verdict != verify.Proved {
			r.Fatalf("the verdict on shuffle %d is %+v", p.id, v)
		}
		tr, err := openings.ParseTranscript(b)
		if err != nil {
			r.Fatal(err)
		}
		if len(p.cards)+len(tr.Cards) > 0 && !cmp.Equal(p.cards, tr.Cards) {
			r.Fatalf("shuffle %d: the transcript shows other cards than were dealt", p.id)
		}
	}
	report, lines := m.tb.inspectedLines(m.auditors)
	if report.Verdict != inspect.Proved || report.FaultCount > 0 || len(report.Notes) > 0 {
		r.Fatalf("the audit finds %+v, %v", report.Faults, report.Notes)
	}
	want, tables := m.figures()
	got := figuresOf(report.Totals)
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatal("the audit counts otherwise:", diff)
	}
	for _, t := range report.Tables {
		if diff := cmp.Diff(tables[t.Table], figuresOf(t.Counts)); diff != "" {
			r.Fatalf("the audit counts otherwise at table %s: %s", t.Table, diff)
		}
	}
	if len(report.Tables) != len(tables) || len(lines) != len(m.plays) {
		r.Fatalf("%d tables and %d shuffles are reported, want %d and %d", len(report.Tables), len(lines), len(tables),
			len(m.plays))
	}
	for _, p := range m.plays {
		l := lines[p.id]
		if l.Table != p.table || l.Serial != p.serial || l.Dealt != p.next || l.Places != p.m ||
			(l.State == "closed") != (p.last().ended != nil) {
			r.Fatalf("the audit says %+v, the model %+v", l, p)
		}
	}
	m.did["stories"]++
}

// figures are counts by outcome, "open" and "overdue".
type figures map[string]uint64

func (f figures) add(what string, n uint64) {
	if n > 0 {
		f[what] += n
	}
}

func figuresOf(c inspect.Counts) figures {
	f := make(figures)
	f.add("all", c.Shuffles)
	f.add("completed", c.Completed)
	f.add("ended_early", c.EndedEarly)
	f.add("continued", c.Continued)
	f.add("expired", c.Expired)
	f.add("void", c.Void)
	f.add("open", c.Open)
	f.add("overdue", c.Overdue)
	for reason, n := range c.VoidBy {
		f.add("void "+reason, n)
	}
	return f
}

// last is the last shuffle of a chain: what was continued is open while that is.
func (p *play) last() *play {
	for p.child != nil {
		p = p.child
	}
	return p
}

func (m *model) figures() (total figures, tables map[string]figures) {
	total, tables = make(figures), make(map[string]figures)
	for _, p := range m.plays {
		if tables[p.table] == nil {
			tables[p.table] = make(figures)
		}
		for _, f := range []figures{total, tables[p.table]} {
			f.add("all", 1)
			last := p.last()
			switch {
			case last.ended == nil:
				f.add("open", 1)
				if m.now() >= last.closeBy {
					f.add("overdue", 1)
				}
			case p.aside: // however it ended (docs/SPEC.md section 14.2)
				f.add("void", 1)
				f.add("void set_aside", 1)
			case p.next == 0 && p.ended.Outcome != audit.OutcomeVoid && p.ended.Outcome != audit.OutcomeExpired:
				f.add("void", 1)
				f.add("void not_dealt", 1)
			default:
				f.add(p.ended.Outcome.String(), 1)
				if p.ended.Outcome == audit.OutcomeVoid {
					f.add("void "+p.ended.Reason.String(), 1)
				}
			}
		}
	}
	return total, tables
}

// player asks a daemon for a request alone, or in a batch: twice there, and the second is answered as the first.
type player struct {
	*table
	inBatch bool
}

// asked is the answer to an operation, or that to its single request.
func asked[T any](p player, op batch.Operation, alone func() (T, error)) (answer T, err error) {
	if !p.inBatch {
		return alone()
	}
	op.Of = -1
	results, err := p.batch(context.Background(), []batch.Operation{op, op}, false)
	if err != nil {
		return answer, err
	}
	first, again := results[0], results[1]
	if first.Err != nil {
		if told(first) != told(again) {
			p.t.Errorf("%+v is refused with %v, and again with %v", op, first.Err, again.Err)
		}
		return answer, first.Err
	}
	if again.Err != nil || !cmp.Equal(first.Answer, again.Answer, sameAnswer) {
		p.t.Errorf("%+v again: %v %s", op, again.Err, cmp.Diff(first.Answer, again.Answer, sameAnswer))
	}
	return first.Answer.(T), nil
}

func (p player) Shuffle(ctx context.Context, by audit.Actor, key string, req api.ShuffleRequest) (api.Shuffle,
	error) {
	return asked(p, batch.Operation{Table: req.Table, Key: key, Cards: &req},
		func() (api.Shuffle, error) { return p.Dealer.Shuffle(ctx, by, key, req) })
}

func (p player) Draws(ctx context.Context, by audit.Actor, key string, req api.DrawsRequest) (api.Shuffle, error) {
	return asked(p, batch.Operation{Table: req.Table, Key: key, Draws: &req},
		func() (api.Shuffle, error) { return p.Dealer.Draws(ctx, by, key, req) })
}

func (p player) Mix(ctx context.Context, by audit.Actor, id uint64, req api.MixRequest) (api.Mix, error) {
	return asked(p, batch.Operation{Shuffle: id, Mix: &req},
		func() (api.Mix, error) { return p.Dealer.Mix(ctx, by, id, req) })
}

func (p player) Deal(ctx context.Context, by audit.Actor, id uint64, req api.DealRequest) (api.Deal, error) {
	return asked(p, batch.Operation{Shuffle: id, Deal: &req},
		func() (api.Deal, error) { return p.Dealer.Deal(ctx, by, id, req) })
}

func (p player) Close(ctx context.Context, by audit.Actor, id uint64, req api.CloseRequest) (api.Close, error) {
	return asked(p, batch.Operation{Shuffle: id, Close: &req},
		func() (api.Close, error) { return p.Dealer.Close(ctx, by, id, req) })
}
