// Package serving is what commands share that answer requests until they are stopped: the
// log, TLS, the end of a server, and what is kept of the process.
package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// shutdownTime is how long requests under way may take once the daemon is told
// to stop.
const shutdownTime = 20 * time.Second

// Outlive returns a context that ends a delay after ctx, or with the next signal to
// stop before that; leave is called at the delay's beginning. Its goroutine ends with
// what it returns.
func Outlive(ctx context.Context, delay time.Duration, leave func()) (context.Context, context.CancelFunc) {
	if delay == 0 {
		return context.WithCancel(ctx)
	}
	later, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer stop()
		select {
		case <-ctx.Done():
		case <-later.Done():
			return
		}
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		leave()
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-again:
		case <-later.Done():
		}
	}()
	return later, stop
}

// ServeUntil serves on l until ctx ends, calls drain, if there is one, and lets
// requests under way finish.
func ServeUntil(ctx context.Context, group *errgroup.Group, l net.Listener, server *http.Server, drain func()) {
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
