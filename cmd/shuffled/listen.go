package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// shutdownTime is how long requests under way may take once the daemon is told
// to stop.
const shutdownTime = 20 * time.Second

// serveUntil serves on l until ctx ends, calls drain, if there is one, and lets
// requests under way finish.
func serveUntil(ctx context.Context, group *errgroup.Group, l net.Listener, server *http.Server, drain func()) {
	group.Go(func() error {
		serve := server.Serve
		if server.TLSConfig != nil {
			serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
		}
		if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		if drain != nil {
			drain()
		}
		timeout, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		return server.Shutdown(timeout)
	})
}
