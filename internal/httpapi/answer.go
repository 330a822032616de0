package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
)

// newline ends JSON for a terminal. It is a part of its own, because to append it would copy the body.
var newline = []byte("\n")

// noStore keeps out of caches what may change or is not for everybody.
const noStore = "no-store"

// json answers with v.
func (c *call) json(v any) error {
	body, err := json.Marshal(v, dealerJSON)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return c.write("application/json", noStore, body, newline)
}

// do reads a request of the contract, has the dealer do it, and answers with what came of it. asked is the request
// before its members are read.
func do[D, V any](c *call, asked D, do action[D, V]) error {
	asked, err := asks(c, asked)
	if err != nil {
		return err
	}
	return c.answer(do(c.r.Context(), c.caller.actor, asked))
}

// action is what the dealer does for an actor. A dealing is about one shuffle, or under one idempotency key.
type (
	action[D, V any]     = func(context.Context, audit.Actor, D) (V, error)
	dealing[K, D, V any] = func(context.Context, audit.Actor, K, D) (V, error)
)

// on is a dealing of this key.
func on[K, D, V any](of K, do dealing[K, D, V]) action[D, V] {
	return func(ctx context.Context, actor audit.Actor, asked D) (V, error) { return do(ctx, actor, of, asked) }
}

// answer answers with v, or returns the error.
func (c *call) answer(v any, err error) error {
	if err != nil {
		return err
	}
	return c.json(v)
}

// write answers with the body, in parts. If the connection fails, the caller has left and there
// is nothing to do. A caller that reads slowly holds no place of readers.
func (c *call) write(mediaType, cache string, body ...[]byte) error {
	size := 0
	for _, part := range body {
		size += len(part)
	}
	if c.computed != nil {
		c.computed(size)
	}
	h := c.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", cache)
	h.Set("Content-Length", strconv.Itoa(size))
	for _, part := range body {
		c.w.Write(part)
	}
	return nil
}

// writeJSON answers with a value that always has an encoding.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}
