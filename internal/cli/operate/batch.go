package operate

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// BatchCmd is shuffled batch.
type BatchCmd struct {
	remote.Flags
	File string `arg:"" help:"File with the batch as JSON, as the API takes it, or - for standard input."`
}

func (BatchCmd) Help() string {
	return `Sends many operations in one request, and proves each answer as the single command does. It prints a line for each operation: its status, and the JSON of its answer. If an operation is refused, the others are still done, and the command fails. With --again, the same file gives the same answers again.

Examples:

    shuffled batch hands.json
    echo '{"operations": [{"op": "deal", "shuffle": 2, "body": {"first": 0, "runs": [{"count": 2, "purpose": "seat", "recipient": "seat-1"}]}}]}' | shuffled batch - --json`
}

// maxBatch bounds a file, in bytes. A daemon takes less.
const maxBatch = 16 << 20

// requests read the body of an operation, by the operation's word.
var requests = map[string]func([]byte) (client.Request, error){
	"shuffle": request[client.ShuffleRequest], "draw": request[client.DrawsRequest], "mix": request[client.MixRequest],
	"deal": request[client.DealRequest], "reveal": request[client.RevealRequest], "close": request[client.CloseRequest],
}

func request[T client.Request](body []byte) (client.Request, error) {
	var req T
	err := json.Unmarshal(body, &req, json.RejectUnknownMembers(true))
	return req, err
}

// unread says what is wrong with JSON, without the names of Go types.
func unread(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("no JSON from byte %d on: %s. JSON has no comments, and no comma after the last member",
			e.ByteOffset, e.Err)
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case ok && e.Err != nil:
		return fmt.Sprintf("at %q: %s. A batch must have the members of BatchRequest in openapi.yaml", string(e.JSONPointer), e.Err)
	case ok:
		return fmt.Sprintf("at %q: a value of the JSON type %s is not allowed there, see BatchRequest in openapi.yaml", string(e.JSONPointer), e.JSONKind)
	}
	return err.Error()
}

func (c *BatchCmd) Run(ctx context.Context, s term.Streams) error {
	text, err := term.ReadStart(c.File, s.In, maxBatch)
	if err != nil {
		return fmt.Errorf("reading the batch: %w", err)
	}
	var asked client.BatchRequest
	if err := json.Unmarshal(text, &asked, json.RejectUnknownMembers(true)); err != nil {
		return term.Usage("the batch in %s: %s", c.File, term.Visible(unread(err)))
	}
	refused := 0
	err = remote.Ask(ctx, &c.Flags, s, func(d *client.Client) (results []client.BatchResult, err error) {
		steps, err := stepsOf(ctx, d, asked.Operations)
		if err != nil {
			return nil, err
		}
		done, err := d.Batch(c.Tried(ctx), steps, asked.AllOrNone != nil)
		for i := range done {
			r := client.BatchResult{Status: 200}
			body := told(&done[i])
			if problem, ok := body.(client.Problem); ok {
				r.Status, refused = problem.Status, refused+1
			}
			if err == nil {
				r.Body, err = json.Marshal(body)
			}
			results = append(results, r)
		}
		return results, err
	}, func(results []client.BatchResult) error {
		for _, r := range results {
			fmt.Fprintf(s.Out, "%d %s\n", r.Status, term.Visible(string(r.Body)))
		}
		return nil
	})
	if err == nil && refused > 0 {
		err = fmt.Errorf("%d of %d operations were refused", refused, len(asked.Operations))
	}
	return err
}

// stepsOf reads the operations, and loads the shuffles that they name by id.
func stepsOf(ctx context.Context, d *client.Client, ops []client.Operation) (steps []client.Step, err error) {
	loaded := make(map[uint64]*client.Committed)
	for i, op := range ops {
		step := client.Step{Key: remote.Value(op.Key), From: -1}
		read := requests[op.Op]
		if read == nil {
			return nil, fmt.Errorf("operation %d: op must be shuffle, draw, mix, deal, reveal or close, not %q", i, op.Op)
		}
		if step.Request, err = read(op.Body); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		switch of := remote.Value(op.Shuffle); {
		case of.Op != nil:
			step.From = *of.Op
		case of.ID != 0:
			if loaded[of.ID] == nil {
				if loaded[of.ID], err = d.Load(ctx, of.ID); err != nil {
					return nil, fmt.Errorf("operation %d: %w", i, err)
				}
			}
			step.Of = loaded[of.ID]
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// told is the body of the daemon's answer to an operation.
func told(d *client.Done) any {
	refused, ok := errors.AsType[*client.Error](d.Err)
	switch {
	case ok:
		return refused.Problem
	case d.Mix != nil:
		return d.Mix
	case d.Deal != nil:
		return d.Deal
	case d.Reveal != nil:
		return d.Reveal
	case d.Close != nil:
		return d.Close
	case d.Shuffle != nil:
		return d.Shuffle.Shuffle
	}
	return nil
}
