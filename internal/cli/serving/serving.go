// Package serving is what the commands share that answer requests until they are stopped: the log, TLS, the end
// of a server, and the protection of the process.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"shuffled/internal/config"
	"shuffled/internal/process"
	"shuffled/internal/stops"
	"shuffled/internal/term"
)

// shutdownTime is how long requests under way may take after the daemon was told to stop.
const shutdownTime = 20 * time.Second

// Outlive returns a context that ends a delay after ctx, or with the next signal to stop. It calls leave when
// the delay begins. The returned function ends its goroutine.
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
		select {
		case <-time.After(delay):
		case <-again:
		case <-later.Done():
		}
	}()
	return later, stop
}

// Listen listens at an address. setting names the flag or the setting of the address, for errors.
func Listen(address, setting string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listening: %w %s, the address of %s", stops.Listener, address, setting)
	}
	if err != nil {
		return nil, term.WithHint(fmt.Errorf("listening: %w", err), "%s must be HOST:PORT of this host, as 127.0.0.1:8080", setting)
	}
	return l, nil
}

// ServeUntil serves on l until ctx ends. It then calls drain, if there is one, and waits for the requests under way.
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

// NewLog returns a log of JSON or text lines, from the level on. The default level is info.
func NewLog(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// StartProcess logs the platform, and keeps the memory of the process out of swap as far as the limit allows:
// it holds keys and tapes.
func StartProcess(log *slog.Logger) {
	p := process.Platform()
	log.Info("platform", "kernel", p.Kernel, "vdso_getrandom", string(p.VDSO), "fips", p.FIPS)
	locked := process.Lock()
	switch {
	case locked.All:
		log.Info("memory is locked: none of it goes to swap", "because", locked.Note)
	case locked.Now:
		log.Warn("memory is locked in part", "because", locked.Note)
	default:
		log.Warn("memory is not locked, so that keys and tapes may reach swap", "because", locked.Note)
	}
}
