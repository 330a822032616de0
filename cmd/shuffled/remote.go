package main

import (
	"context"

	"shuffled/client"
	clients "shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// remote are the flags of the commands that talk to a running daemon.
type remote struct{ clients.Flags }

// connect returns a client of the ledger.
func (r *remote) connect(ctx context.Context, s term.Streams) (*client.Client, error) {
	return r.Connect(ctx, s.Err)
}

// fail explains err and prints it if it is a lie, for nothing else will.
func (r *remote) fail(s term.Streams, err error) error { return r.Fail(s.Err, err) }
