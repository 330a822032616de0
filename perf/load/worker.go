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

// worker has one connection and one table at a time. All of it belongs to the goroutine in work; kept is
// verified after this goroutine has ended.
type worker struct {
	*run
	wire
	prefix, common string // what is the same in each request
	number, turn   int    // of the worker, from 1, and of its table
	table          string
	round          round
	open           []play // shuffles in order of their commit, if the mix uses them
	out            int    // how many of open, from the first, have no card left
	kept           kept

	path, body, request []byte // being written
}

// play is an open shuffle, the group of its commit among what is kept, and its next place.
type play struct {
	id, group uint64
	next      int
}

// A Refusal is an answer that refuses for a permanent reason.
type Refusal struct {
	Status       int
	Code, Detail string
}

func (r *Refusal) Error() string {
	return audit.Printable(fmt.Sprintf("the daemon refuses: %d %s: %s", r.Status, r.Code, r.Detail))
}

// work sends one request after the other until the end; with a rate, when it is due.
func (w *worker) work(ctx context.Context) error {
	for {
		due := time.Now()
		if w.due != nil {
			var more bool
			if due, more = <-w.due; !more {
				return nil
			}
		} else if !due.Before(w.end) || ctx.Err() != nil {
			return nil
		}
		if w.measured(due) {
			w.late.add(time.Since(due))
		}
		if err := w.do(ctx, w.round.next(), due); err != nil {
			return err
		}
	}
}

// do sends the next request of the mix, or a commit if nothing is open that could be dealt, closed or verified.
func (w *worker) do(ctx context.Context, kind Kind, due time.Time) (err error) {
	if w.cfg.Batch > 1 {
		w.turnTable()
		return w.batch(ctx, kind, due)
	}
	switch kind {
	case Hand:
		return w.hand(ctx, due)
	case Deal:
		// Cards are dealt from a table's shuffles in the order of the shuffles.
		for w.out < len(w.open) && w.open[w.out].next+dealCards > deckCards {
			w.out++
		}
		if w.out < len(w.open) {
			_, err = w.deal(ctx, &w.open[w.out], due, dealCards, func() { w.seats(1) })
			return err
		}
	case Close:
		if len(w.open) > 0 {
			p := w.open[0]
			w.open, w.out = w.open[1:], max(w.out-1, 0)
			_, err = w.finish(ctx, &p, due)
			return err
		}
	case Verify:
		if w.kept.last != nil {
			return w.judge(ctx, due)
		}
	}
	id, err := w.commit(ctx, due)
	if w.cfg.Mix.plays() && id != 0 {
		w.open = append(w.open, play{id: id, group: w.kept.commits})
	}
	return err
}

// dealCards is the number of cards of a deal of the mix; deckCards is the least number of cards of a usable deck.
const (
	dealCards = 2
	deckCards = 20
)

// turnTable goes on to the next table of the connection.
func (w *worker) turnTable() {
	if w.cfg.Spread > 1 {
		w.table = w.cfg.table(w.number, w.turn)
		w.turn++
	}
}

// commit requests a shuffle and returns its id. The id is 0 if there is none or it cannot be read;
// verification then reports this.
func (w *worker) commit(ctx context.Context, due time.Time) (id uint64, err error) {
	key := client.NewKey()
	w.path = append(w.path[:0], "/shuffles"...)
	w.turnTable()
	w.body = fmt.Appendf(w.body[:0], `{"table":"%s","deck":"%s"}`, w.table, w.cfg.Deck)
	answer, at, err := w.ask(ctx, Commit, key, due)
	if answer == nil {
		return 0, err
	}
	w.kept.add(claim{kind: Commit, key: key, table: w.table, answer: answer})
	if w.measured(at) {
		w.shuffles.Add(1)
	}
	if w.cfg.onlyCommits() {
		return 0, nil // nobody asks
	}
	return firstID(answer), nil
}

// deal deals the next n cards in the runs that write appends, and reports whether it did. It also counts
// the cards of a failed deal as dealt: if the next place is not known, the shuffle cannot be used any more.
func (w *worker) deal(ctx context.Context, p *play, due time.Time, n int, write func()) (bool, error) {
	w.shufflePath(p.id, "/deal")
	w.body = fmt.Appendf(w.body[:0], `{"first":%d,"runs":[`, p.next)
	write()
	w.body = append(w.body, "]}"...)
	answer, _, err := w.ask(ctx, Deal, "", due)
	if answer != nil {
		w.kept.add(claim{kind: Deal, group: p.group, shuffle: p.id, first: p.next, count: n, answer: answer})
	}
	p.next += n
	return answer != nil, err
}

func (w *worker) finish(ctx context.Context, p *play, due time.Time) (bool, error) {
	w.shufflePath(p.id, "/close")
	w.body = append(w.body[:0], `{"outcome":"completed"}`...)
	answer, _, err := w.ask(ctx, Close, "", due)
	if answer != nil {
		w.kept.add(claim{kind: Close, group: p.group, shuffle: p.id, answer: answer})
	}
	return answer != nil, err
}

func (w *worker) shufflePath(id uint64, what string) {
	w.path = append(strconv.AppendUint(append(w.path[:0], "/shuffles/"...), id, 10), what...)
}

// hand plays six requests. The first is due when the hand is due, each of the others when the one before was answered.
func (w *worker) hand(ctx context.Context, due time.Time) error {
	id, err := w.commit(ctx, due)
	if id == 0 {
		return err
	}
	p := play{id: id, group: w.kept.commits}
	for _, s := range streets {
		if ok, err := w.deal(ctx, &p, time.Now(), s.cards, func() { s.runs(w) }); !ok {
			return err
		}
	}
	if ok, err := w.finish(ctx, &p, time.Now()); !ok {
		return err
	}
	if w.measured(due) {
		w.latency[Hand].add(time.Since(due))
	}
	return nil
}

const seats = 6

// seats deals two cards to each of n.
func (w *worker) seats(n int) {
	for i := range n {
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
		return nil // verification will report it
	}
	w.body = append(w.body[:0], a.one().Receipt...)
	answer, _, err := w.ask(ctx, Verify, "", due)
	if answer != nil {
		w.kept.judged(answer)
	}
	return err
}

// measured reports whether a time is within the measured time.
func (w *worker) measured(at time.Time) bool { return !at.Before(w.start) && at.Before(w.end) }

// ask sends path and body until there is a final answer: the same bytes each time, so that nothing is done
// twice. The answer is valid until the next call, and nil if the request was refused or given up; at is
// when it came. An error ends the run.
func (w *worker) ask(ctx context.Context, kind Kind, key string, due time.Time) (answer []byte, at time.Time,
	err error) {
	w.write(kind, key)
	for attempt := 0; ; attempt++ {
		w.requests.Add(1)
		reply, err := w.call(ctx, w.request)
		now := time.Now()
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
		if again := now.Add(pause); !again.Before(w.end) || !w.cfg.until(ctx, again) {
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

// refusal reads a problem document (RFC 9457), or makes one of another answer.
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

// firstID returns the first member called id, or 0, and reads no further.
func firstID(answer []byte) uint64 {
	d := jsontext.NewDecoder(bytes.NewBuffer(answer))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return 0
		}
		if t.Kind() != '"' {
			continue
		}
		if in, n := d.StackIndex(d.StackDepth()); in != '{' || n%2 == 0 || t.String() != "id" {
			continue // a value, or another member
		}
		t, err = d.ReadToken()
		if err != nil || t.Kind() != '0' {
			return 0
		}
		id, err := t.Uint()
		if err != nil {
			return 0
		}
		return id
	}
}

// wait returns at a time, or when ctx ends, and reports whether the time came. The runtime's timers wake an
// idle process up to a millisecond late, which would add to a request's latency. The kernel therefore does
// the last part of the wait.
func wait(ctx context.Context, at time.Time) bool {
	d := time.Until(at)
	if d > longNap {
		if !waitTimer(ctx, at.Add(-2*time.Millisecond)) {
			return false
		}
		d = time.Until(at)
	}
	if d > 0 {
		nap(d)
	}
	return ctx.Err() == nil
}

// longNap is the longest nap, which does not end early when ctx ends.
const longNap = 20 * time.Millisecond

// waitTimer is wait with timers alone.
func waitTimer(ctx context.Context, at time.Time) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
