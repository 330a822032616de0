package load

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/client"
	"shuffled/internal/audit"
)

// worker has one connection and one table. All of it belongs to the goroutine in
// work; kept is verified after that has ended.
type worker struct {
	*run
	wire
	prefix, common string // what is the same in each request
	table          string
	round          round
	open           []play // shuffles in order of their commit, if the mix has use for them
	kept           kept

	path, body, request []byte // being written
}

// play is an open shuffle and its next place.
type play struct {
	id   uint64
	next int
}

// A Refusal is an answer that says no for a reason that will not go away.
type Refusal struct {
	Status       int
	Code, Detail string
}

func (r *Refusal) Error() string {
	return audit.Printable(fmt.Sprintf("the daemon refuses: %d %s: %s", r.Status, r.Code, r.Detail))
}

// work does one thing after the other until the end; with a rate, when it is due.
func (w *worker) work(ctx context.Context) error {
	for {
		now := w.cfg.clock.Now()
		if w.due != nil {
			at, more := <-w.due
			if !more {
				return nil
			}
			now = at
		} else if !now.Before(w.end) || ctx.Err() != nil {
			return nil
		}
		if err := w.do(ctx, w.round.next(), now); err != nil {
			return err
		}
	}
}

// do does what the mix asks for, or a commit where nothing is open that could be
// dealt, closed or verified.
func (w *worker) do(ctx context.Context, kind Kind, due time.Time) (err error) {
	switch kind {
	case Hand:
		return w.hand(ctx, due)
	case Deal:
		if i := w.undealt(); i >= 0 {
			p := &w.open[i]
			_, err = w.deal(ctx, p, due, "seat", dealCards)
			return err
		}
	case Close:
		if len(w.open) > 0 {
			p := w.open[0]
			w.open = w.open[1:]
			_, err = w.finish(ctx, p.id, due)
			return err
		}
	case Verify:
		if w.kept.last != nil {
			return w.judge(ctx, due)
		}
	}
	ids, err := w.commit(ctx, due, w.cfg.Batch)
	if w.cfg.Mix.plays() {
		for _, id := range ids {
			w.open = append(w.open, play{id: id})
		}
	}
	return err
}

// dealCards is how many a deal of the mix deals; deckCards how many every deck
// has that is good for it.
const (
	dealCards = 2
	deckCards = 20
)

// undealt returns which open shuffle is dealt from next: the first with cards
// left, for a table's shuffles are dealt from in their order. It is -1 for none.
func (w *worker) undealt() int {
	for i := range w.open {
		if w.open[i].next+dealCards <= deckCards {
			return i
		}
	}
	return -1
}

// commit asks for so many shuffles and returns their ids.
func (w *worker) commit(ctx context.Context, due time.Time, count int) ([]uint64, error) {
	key := client.NewKey()
	w.path = append(w.path[:0], "/shuffles"...)
	w.body = fmt.Appendf(w.body[:0], `{"table":"%s","deck":"%s"`, w.table, w.cfg.Deck)
	if count > 1 {
		w.body = fmt.Appendf(w.body, `,"count":%d`, count)
	}
	w.body = append(w.body, '}')
	answer, at, err := w.ask(ctx, Commit, key, due)
	if answer == nil {
		return nil, err
	}
	id, ok := firstID(answer)
	if !ok {
		id = 0 // which no commit has: verification will say what it is
	}
	w.kept.add(claim{kind: Commit, shuffle: id, count: count, key: key, table: w.table, answer: answer})
	if w.measured(at) {
		w.shuffles.Add(uint64(count))
	}
	ids := make([]uint64, count)
	for i := range ids {
		ids[i] = id + uint64(i)
	}
	return ids, nil
}

// deal deals the next n cards. A shuffle that is not there any more is of no use.
func (w *worker) deal(ctx context.Context, p *play, due time.Time, purpose string, n int) (bool, error) {
	return w.dealRuns(ctx, p, due, n, func() {
		w.body = fmt.Appendf(w.body, `{"count":%d,"purpose":"%s"`, n, purpose)
		if purpose == "seat" {
			w.body = append(w.body, `,"recipient":"seat-1"`...)
		}
		w.body = append(w.body, '}')
	})
}

// dealRuns deals n cards in the runs that write appends.
func (w *worker) dealRuns(ctx context.Context, p *play, due time.Time, n int, write func()) (bool, error) {
	w.shufflePath(p.id, "/deal")
	w.body = fmt.Appendf(w.body[:0], `{"first":%d,"runs":[`, p.next)
	write()
	w.body = append(w.body, "]}"...)
	answer, _, err := w.ask(ctx, Deal, "", due)
	if answer != nil {
		w.kept.add(claim{kind: Deal, shuffle: p.id, first: p.next, count: n, answer: answer})
	}
	p.next += n // also of one that failed: it is not dealt from again where the place is unknown
	return answer != nil, err
}

func (w *worker) finish(ctx context.Context, id uint64, due time.Time) (bool, error) {
	w.shufflePath(id, "/close")
	w.body = append(w.body[:0], `{"outcome":"completed"}`...)
	answer, _, err := w.ask(ctx, Close, "", due)
	if answer != nil {
		w.kept.add(claim{kind: Close, shuffle: id, answer: answer})
	}
	return answer != nil, err
}

func (w *worker) shufflePath(id uint64, what string) {
	w.path = append(strconv.AppendUint(append(w.path[:0], "/shuffles/"...), id, 10), what...)
}

// hand plays six requests. The first is due when the hand is, each of the others
// when the one before was answered.
func (w *worker) hand(ctx context.Context, due time.Time) error {
	ids, err := w.commit(ctx, due, 1)
	if ids == nil {
		return err
	}
	p := play{id: ids[0]}
	steps := []func() (bool, error){
		func() (bool, error) { return w.dealRuns(ctx, &p, w.cfg.clock.Now(), 2*seats, w.seats) },
		func() (bool, error) { return w.dealRuns(ctx, &p, w.cfg.clock.Now(), 4, func() { w.street(3) }) },
		func() (bool, error) { return w.dealRuns(ctx, &p, w.cfg.clock.Now(), 2, func() { w.street(1) }) },
		func() (bool, error) { return w.dealRuns(ctx, &p, w.cfg.clock.Now(), 2, func() { w.street(1) }) },
		func() (bool, error) { return w.finish(ctx, p.id, w.cfg.clock.Now()) },
	}
	for _, step := range steps {
		if ok, err := step(); !ok {
			return err
		}
	}
	if w.measured(due) {
		w.latency[Hand].add(w.cfg.clock.Now().Sub(due))
	}
	return nil
}

const seats = 6

// seats deals two cards to each.
func (w *worker) seats() {
	for i := range seats {
		if i > 0 {
			w.body = append(w.body, ',')
		}
		w.body = fmt.Appendf(w.body, `{"count":2,"purpose":"seat","recipient":"seat-%d"}`, i+1)
	}
}

// street burns a card and lays n on the board.
func (w *worker) street(n int) {
	w.body = fmt.Appendf(w.body, `{"count":1,"purpose":"burn"},{"count":%d,"purpose":"board","public":true}`, n)
}

// judge has the daemon verify the receipt of the newest answer.
func (w *worker) judge(ctx context.Context, due time.Time) error {
	var a answer
	if json.Unmarshal(w.kept.last, &a) != nil || a.one().Receipt == "" {
		return nil // verification will say so
	}
	w.body = append(w.body[:0], a.one().Receipt...)
	answer, _, err := w.ask(ctx, Verify, "", due)
	if answer != nil {
		w.kept.judged(answer)
	}
	return err
}

// measured reports whether a time is within the measured ones.
func (w *worker) measured(at time.Time) bool { return !at.Before(w.start) && at.Before(w.end) }

// ask sends what stands in path and body until it is answered for good: the same
// bytes each time, so that nothing is done twice. The answer is nil where it was
// refused or given up, and valid until the next call; at is when it came. An
// error ends the run.
func (w *worker) ask(ctx context.Context, kind Kind, key string, due time.Time) (answer []byte, at time.Time, err error) {
	w.write(kind, key)
	for attempt := 0; ; attempt++ {
		w.requests.Add(1)
		reply, err := w.call(ctx, w.request)
		now := w.cfg.clock.Now()
		pause := time.Duration(0)
		switch {
		case err != nil:
			w.failed(err)
			pause = min(10*time.Millisecond<<min(attempt, 10), time.Second)
		case reply.status == 200:
			w.acknowledge(kind, due, now)
			return reply.body, now, nil
		default:
			problem := refusal(reply)
			w.refused(problem.Code)
			if reply.after < 0 {
				if reply.status < 500 && reply.status != 409 && reply.status != 429 {
					return nil, now, problem
				}
				return nil, now, nil
			}
			pause = reply.after
		}
		if again := now.Add(pause); !again.Before(w.end) || !w.cfg.clock.Until(ctx, again) {
			w.givenUp.Add(1)
			return nil, now, nil
		}
	}
}

func (w *worker) acknowledge(kind Kind, due, now time.Time) {
	w.acknowledged.Add(1)
	w.any.add(now.Sub(due))
	if w.measured(due) {
		w.latency[kind].add(now.Sub(due))
	}
	if w.measured(now) {
		w.within.Add(1)
	}
}

// write makes the request of path and body.
func (w *worker) write(kind Kind, key string) {
	b := append(append(w.request[:0], "POST "...), w.prefix...)
	media := "application/json"
	if kind == Verify {
		b, media = append(b, "/v1/verify"...), "text/plain"
	} else {
		b = append(append(append(b, "/v1/"...), w.cfg.Ledger...), w.path...)
	}
	b = append(append(b, w.common...), media...)
	if key != "" {
		b = append(append(b, "\r\nIdempotency-Key: "...), key...)
	}
	b = append(b, "\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(w.body)), 10), "\r\n\r\n"...)
	w.request = append(b, w.body...)
}

// refusal reads a problem document (RFC 9457), or makes one of what there is.
func refusal(r reply) *Refusal {
	var p struct {
		Code   string `json:"code"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Field  string `json:"field"`
	}
	if json.Unmarshal(r.body, &p) != nil || p.Code == "" {
		return &Refusal{Status: r.status, Code: "http_" + strconv.Itoa(r.status)}
	}
	text := p.Title
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return &Refusal{Status: r.status, Code: p.Code, Detail: text}
}

// firstID returns the first member called id, with as little reading as that
// takes.
func firstID(answer []byte) (id uint64, ok bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(answer))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return 0, false
		}
		if t.Kind() != '"' {
			continue
		}
		if kind, length := d.StackIndex(d.StackDepth()); kind != '{' || length%2 == 0 || t.String() != "id" {
			continue
		}
		t, err = d.ReadToken()
		if err != nil || t.Kind() != '0' {
			return 0, false
		}
		id, err = t.Uint()
		return id, err == nil
	}
}
