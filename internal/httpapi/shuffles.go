package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
)

// GetShuffle answers with the state of a shuffle.
func (s *Server) GetShuffle(c *call, id ID) error {
	return c.answer(c.ledger.Dealer.Status(c.r.Context(), id))
}

// DealCards deals the next places.
func (s *Server) DealCards(c *call, id ID) error {
	return do(c, noDeal, behind(s, c, id, c.ledger.Dealer.Deal))
}

// noDeal is a request before its members are read: the place -1 tells that first is absent.
var noDeal = api.DealRequest{First: -1}

// behind is on for a request that waits for the witnesses of the commit.
func behind[D, V any](s *Server, c *call, id ID, do dealing[ID, D, V]) action[D, V] {
	return func(_ context.Context, actor audit.Actor, asked D) (v V, err error) {
		if _, err := s.awaitWitnesses(c, id); err != nil {
			return v, err
		}
		return do(c.r.Context(), actor, id, asked)
	}
}

// RevealCards makes dealt places public.
func (s *Server) RevealCards(c *call, id ID) error {
	return do(c, api.RevealRequest{}, on(id, c.ledger.Dealer.Reveal))
}

// CloseShuffle ends a shuffle.
func (s *Server) CloseShuffle(c *call, id ID) error {
	ends := on(id, c.ledger.Dealer.Close)
	return do(c, CloseRequest{}, func(ctx context.Context, by audit.Actor, asked CloseRequest) (v api.Close,
		err error) {
		if lost := asked.Reason == audit.ReasonTapeLost; lost != (c.caller.role == audit.RoleAdmin) {
			return v, &refusal{code: CodeForbidden, field: "reason",
				detail: "The reason tape_lost takes the role admin, and an admin closes for no other reason"}
		}
		return ends(ctx, by, asked)
	})
}

// AddStatement keeps what an auditor signed about a shuffle.
func (s *Server) AddStatement(c *call, id ID) error {
	var req StatementRequest
	if err := c.decode(&req); err != nil {
		return err
	}
	n, err := c.ledger.Dealer.AddStatement(c.r.Context(), id, req.Statement)
	if err != nil {
		return err
	}
	return c.json(StatementTaken{Statements: n})
}

// GetTranscript answers with the evidence that the caller may see.
func (s *Server) GetTranscript(c *call, id ID, params GetTranscriptParams) error {
	if params.Recipient != nil {
		// The dealer hands out the cards of a recipient.
		if err := c.may(audit.RoleDealer.String()); err != nil {
			return err
		}
	}
	identity := ""
	if c.caller.role == audit.RoleDealer || c.caller.role == audit.RoleBlind {
		identity = c.caller.actor.Identity
	}
	transcript, err := c.ledger.Dealer.Transcript(c.r.Context(), id, api.View{
		Identity:  identity,
		Auditor:   c.caller.role == audit.RoleAuditor || c.caller.role == audit.RoleRegulator,
		Recipient: value(params.Recipient),
	})
	if err != nil {
		return err
	}
	if !c.caller.known() && c.takesGzip() { // for a house near by it would cost more than a hand
		transcript = pack("", transcript).packed
	}
	return c.write("application/json", noStore, transcript)
}

// CreateShuffle commits to a new shuffle.
func (s *Server) CreateShuffle(c *call, params CreateShuffleParams) error {
	return do(c, api.ShuffleRequest{}, on(params.IdempotencyKey, c.ledger.Dealer.Shuffle))
}

// CreateDraws commits to drawn values.
func (s *Server) CreateDraws(c *call, params CreateDrawsParams) error {
	return do(c, api.DrawsRequest{}, on(params.IdempotencyKey, c.ledger.Dealer.Draws))
}

// MixShuffle reveals the values of a plan.
func (s *Server) MixShuffle(c *call, id ID) error {
	return do(c, api.MixRequest{}, behind(s, c, id, c.ledger.Dealer.Mix))
}

// Bounds of a batch. The places that it commits and deals bound its work and its answer.
const (
	maxOperations  = 1024
	maxBatchPlaces = 65_536
	atOnce         = 4 * maxOperations // operations of batches that a ledger works on, or places of atPlaces each
	atPlaces       = maxBatchPlaces / maxOperations
)

// The parts of a batch that are JSON of a single request.
type (
	OperationBody   = jsontext.Value
	OperationAnswer = jsontext.Value
)

// batchOps are the operations of a batch: for each word the request that its body is of.
var batchOps = map[string]func(*batch.Operation) (asked any){
	"shuffle": func(op *batch.Operation) any { op.Cards = new(api.ShuffleRequest); return op.Cards },
	"draw":    func(op *batch.Operation) any { op.Draws = new(api.DrawsRequest); return op.Draws },
	"mix":     func(op *batch.Operation) any { op.Mix = new(api.MixRequest); return op.Mix },
	"deal":    func(op *batch.Operation) any { op.Deal = new(noDeal); return op.Deal },
	"reveal":  func(op *batch.Operation) any { op.Reveal = new(api.RevealRequest); return op.Reveal },
	"close":   func(op *batch.Operation) any { op.Close = new(api.CloseRequest); return op.Close },
}

// checkKey refuses a commit that has no key or names a shuffle, and another operation that has a key or names none.
func checkKey(of *Operation, commits bool) error {
	switch {
	case commits && of.Shuffle != nil:
		return refuseValue("shuffle", "must be left out of an operation that commits")
	case commits && of.Key == nil:
		return &refusal{code: CodeIdempotencyKeyMissing, field: "key"}
	case commits:
		if err := audit.CheckIdempotencyKey(*of.Key); err != nil {
			return refuseValue("key", err.Error())
		}
	case of.Key != nil:
		return refuseValue("key", "must be left out, except in an operation that commits")
	case of.Shuffle == nil:
		return refuseValue("shuffle", "must be given: an id, or the number of an earlier operation as op")
	}
	return nil
}

// CreateBatch answers many operations.
func (s *Server) CreateBatch(c *call) error {
	var req BatchRequest
	if err := c.decode(&req); err != nil {
		return err
	}
	if n := len(req.Operations); n < 1 || n > maxOperations {
		return refuseValue("operations", fmt.Sprintf("must have 1 to %d operations", maxOperations))
	}
	if req.AllOrNone != nil && !*req.AllOrNone {
		return refuseValue("all_or_none", "must be true or absent")
	}
	n, taken := len(req.Operations), 0
	defer func() { c.ledger.batches.leaveN(c.caller.actor.Identity, taken) }()
	take := func(more int) error {
		if more > 0 && !c.ledger.batches.try(c.caller.actor.Identity, more) {
			return s.overloaded(c, refusedQueue)
		}
		taken += max(0, more)
		return nil
	}
	if err := take(n); err != nil {
		return err
	}
	if c.caller.known() {
		s.tokenRates.spend(tokenKey{c.ledger.id, c.caller.actor.Credential}, n-1, s.cfg.Now())
	}
	ops := readEach(c, req.Operations)
	places, err := countPlaces(ops)
	if err == nil { // what a batch holds in memory grows with its places, and may be all that a small host has
		err = take(places/atPlaces - n)
	}
	if err != nil {
		return err
	}
	results, err := batch.Run(c.r.Context(), c.ledger.Dealer, c.caller.actor, ops, req.AllOrNone != nil,
		func(id uint64) (context.Context, error) { return s.awaitWitnesses(c, id) })
	if rounds, ok := errors.AsType[*batch.RoundsError](err); ok {
		return &refusal{code: CodeAllOrNone, field: fmt.Sprintf("operations[%d]", rounds.Operation),
			detail: rounds.Error()}
	}
	if err != nil {
		return err
	}
	b := append(make([]byte, 0, 2048*n), `{"results":[`...)
	for i, r := range results {
		b = append(s.result(b, c, r, req.Operations[i].Body), ',')
	}
	return c.write("application/json", noStore, append(bytes.TrimSuffix(b, []byte(",")), "]}\n"...))
}

// readOperation reads the last of ops, to which it may refer by the number of an earlier one.
func readOperation(ops []batch.Operation, of *Operation) error {
	i := len(ops) - 1
	op := &ops[i]
	request, ok := batchOps[of.Op]
	if !ok {
		return refuseWord("op", of.Op, "shuffle", "draw", "mix", "deal", "reveal", "close")
	}
	asked := request(op)
	if err := checkKey(of, op.Cards != nil || op.Draws != nil); err != nil {
		return err
	}
	op.Key = value(of.Key)
	err := decodeBytes(of.Body, asked, dealerJSON)
	switch {
	case op.Cards != nil:
		op.Table = op.Cards.Table
		return err
	case op.Draws != nil:
		op.Table = op.Draws.Table
		return err
	case err == nil && op.Close != nil && op.Close.Reason == audit.ReasonTapeLost:
		return &refusal{code: CodeForbidden, field: "reason", detail: "The reason tape_lost takes the role admin"}
	case err != nil:
		return err
	}
	if ref := of.Shuffle.Op; ref != nil {
		if *ref < 0 || *ref >= i {
			return refuseValue("shuffle.op", fmt.Sprintf("must be the number of an operation before this one, which is %d", i))
		}
		op.Of, op.Table = *ref, ops[*ref].Table
		return nil
	}
	if of.Shuffle.ID == 0 || of.Shuffle.ID > audit.MaxInteger {
		return refuseValue("shuffle", "must be an id")
	}
	op.Shuffle = of.Shuffle.ID
	return nil
}

// countPlaces returns how many places a batch commits and deals, which is bounded.
func countPlaces(ops []batch.Operation) (places int, err error) {
	for i, op := range ops {
		places += op.Places()
		if places > maxBatchPlaces {
			return 0, refuseValue(fmt.Sprintf("operations[%d]", i), fmt.Sprintf(
				"must not take the batch above %d places that it commits and deals", maxBatchPlaces))
		}
	}
	return places, nil
}

// result appends the answer to one operation, as to its single request.
func (s *Server) result(b []byte, c *call, r batch.Result, asked []byte) []byte {
	b = append(b, `{"body":`...)
	if r.Err == nil {
		return append(appendAnswer(b, reflect.ValueOf(r.Answer)), `,"status":200}`...)
	}
	e := c.explained(r.Err)
	s.logCause(c.w, c.r, e)
	e.body = asked
	b = append(b, problemBody(e)...)
	if problems[e.code].Retry {
		b = fmt.Appendf(b, `,"retry_after":%d`, retryAfter)
	}
	return fmt.Appendf(b, `,"status":%d}`, problems[e.code].Status)
}
