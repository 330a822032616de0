package httpapi

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// Bounds of a batch. The places that it commits and deals bound its work and its answer.
const (
	maxOperations  = 1024
	maxBatchPlaces = 65_536
	atOnce         = 4 * maxOperations // operations of batches that a ledger works on
)

// The parts of a batch that are JSON of a single request.
type (
	OperationBody   = jsontext.Value
	OperationAnswer = jsontext.Value
)

// batchOps are the operations of a batch: for each word the function that reads the body of the single request.
var batchOps = map[string]func(*Operation, *dealer.Operation) error{
	"shuffle": func(of *Operation, op *dealer.Operation) error {
		op.Cards = new(dealer.ShuffleRequest)
		return commits(of, op, op.Cards, &op.Cards.Table)
	},
	"draw": func(of *Operation, op *dealer.Operation) error {
		op.Draws = new(dealer.DrawsRequest)
		return commits(of, op, op.Draws, &op.Draws.Table)
	},
	"mix": func(of *Operation, op *dealer.Operation) error {
		op.Mix = new(dealer.MixRequest)
		return plays(of, op.Mix)
	},
	"deal": func(of *Operation, op *dealer.Operation) error {
		op.Deal = new(noDeal)
		return plays(of, op.Deal)
	},
	"reveal": func(of *Operation, op *dealer.Operation) error {
		op.Reveal = new(dealer.RevealRequest)
		return plays(of, op.Reveal)
	},
	"close": func(of *Operation, op *dealer.Operation) error {
		op.Close = new(dealer.CloseRequest)
		err := plays(of, op.Close)
		if err == nil && op.Close.Reason == audit.ReasonTapeLost {
			err = &refusal{code: CodeForbidden, field: "reason", detail: "The reason tape_lost takes the role admin"}
		}
		return err
	},
}

// commits reads a commit, which has a key and names its table.
func commits(of *Operation, op *dealer.Operation, asked any, table *string) error {
	switch {
	case of.Shuffle != nil:
		return refuseValue("shuffle", "must be left out of an operation that commits")
	case of.Key == nil:
		return &refusal{code: CodeIdempotencyKeyMissing, field: "key"}
	}
	if err := audit.CheckIdempotencyKey(*of.Key); err != nil {
		return refuseValue("key", err.Error())
	}
	err := decodeBytes(of.Body, asked, dealerJSON)
	op.Key, op.Table = *of.Key, *table
	return err
}

// plays reads an operation on a shuffle.
func plays(of *Operation, asked any) error {
	switch {
	case of.Key != nil:
		return refuseValue("key", "must be left out, except in an operation that commits")
	case of.Shuffle == nil:
		return refuseValue("shuffle", "must be given: an id, or the number of an earlier operation as op")
	}
	return decodeBytes(of.Body, asked, dealerJSON)
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
	n := len(req.Operations)
	if !c.ledger.batches.try(c.caller.actor.Identity, n) {
		s.metrics.refuse(c.ledger, refusedQueue)
		return refuse(CodeOverloaded)
	}
	defer c.ledger.batches.leaveN(c.caller.actor.Identity, n)
	if c.caller.known() {
		s.tokenRates.spend(tokenKey{c.ledger.id, c.caller.actor.Credential}, n-1, s.cfg.Now())
	}
	ops := readEach(c, req.Operations)
	if err := checkPlaces(ops); err != nil {
		return err
	}
	results, err := c.ledger.Dealer.Batch(c.r.Context(), c.caller.actor, ops, req.AllOrNone != nil,
		func(id uint64) error { return s.awaitWitnesses(c, id) })
	if rounds, ok := errors.AsType[*dealer.RoundsError](err); ok {
		return &refusal{code: CodeAllOrNone, field: fmt.Sprintf("operations[%d]", rounds.Operation),
			detail: rounds.Error()}
	}
	if err != nil {
		return err
	}
	answer := make([]BatchResult, n)
	for i, r := range results {
		if answer[i], err = s.result(c, r, req.Operations[i].Body); err != nil {
			return err
		}
	}
	return c.write("application/json", noStore, encodeBatch(answer)...)
}

// encodeBatch is the JSON of a Batch, in parts: an encoder would read all bodies again.
func encodeBatch(results []BatchResult) [][]byte {
	parts, before := [][]byte{[]byte(`{"results":[`)}, `{"body":`
	for _, r := range results {
		behind := fmt.Sprintf(`,"status":%d}`, r.Status)
		if r.RetryAfter != nil {
			behind = fmt.Sprintf(`,"retry_after":%d`, *r.RetryAfter) + behind
		}
		parts, before = append(parts, []byte(before), r.Body, []byte(behind)), `,{"body":`
	}
	return append(parts, []byte("]}\n"))
}

// readOperation reads the last of ops, to which it may refer by the number of an earlier one.
func readOperation(ops []dealer.Operation, of *Operation) error {
	i := len(ops) - 1
	op := &ops[i]
	read, ok := batchOps[of.Op]
	if !ok {
		return refuseWord("op", of.Op, "shuffle", "draw", "mix", "deal", "reveal", "close")
	}
	if err := read(of, op); err != nil || of.Shuffle == nil {
		return err
	}
	if ref := of.Shuffle.Op; ref != nil {
		if *ref < 0 || *ref >= i {
			return refuseValue("shuffle.op", fmt.Sprintf("must be the number of an operation before this one, which is %d", i))
		}
		op.Of, op.Table = *ref, ops[*ref].Table
		return nil
	}
	if of.Shuffle.ID == 0 || of.Shuffle.ID > maxInteger {
		return refuseValue("shuffle", "must be an id")
	}
	op.Shuffle = of.Shuffle.ID
	return nil
}

// checkPlaces bounds what a batch commits and deals.
func checkPlaces(ops []dealer.Operation) error {
	places := 0
	for i, op := range ops {
		places += op.Places()
		if places > maxBatchPlaces {
			return refuseValue(fmt.Sprintf("operations[%d]", i), fmt.Sprintf(
				"must not take the batch above %d places that it commits and deals", maxBatchPlaces))
		}
	}
	return nil
}

// result is the answer to one operation, as to its single request.
func (s *Server) result(c *call, r dealer.Result, asked []byte) (BatchResult, error) {
	if r.Err != nil {
		e := c.explained(r.Err)
		s.logCause(c.w, c.r, e)
		e.body = asked
		result := BatchResult{Status: problems[e.code].Status, Body: problemBody(e)}
		if problems[e.code].Retry {
			result.RetryAfter = new(retryAfter)
		}
		return result, nil
	}
	body, err := json.Marshal(r.Answer, dealerJSON)
	return BatchResult{Status: 200, Body: body}, err
}
