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

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/config"
	"shuffled/internal/process"
	"shuffled/internal/stops"
	"shuffled/internal/term"
)

// shutdownTime is how long requests under way may take after the daemon was told to stop. A variable for a test.
var shutdownTime = 20 * time.Second

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
		err := server.Shutdown(timeout)
		if errors.Is(err, context.DeadlineExceeded) {
			return server.Close() // anybody may take longer: such a caller is cut off, and the stop is none the worse
		}
		return err
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

// littleSpace is how many bytes are free when the high-water mark and the caches may soon have no room.
const littleSpace = 1 << 30

// A Concern is something of the host that needs attention, and what to do about it.
type Concern struct{ What, Cure string }

func (c Concern) String() string { return c.What + ": " + c.Cure }

// leastMemory is what a daemon needs, in bytes: with half of it, 24 batches of 70 largest shoes at once had the kernel
// end it, and with all of it some of them got 503.
const leastMemory = 128 << 20

// AvailableMemory returns what the cgroup allows or what the machine has, whichever is less, in bytes.
func AvailableMemory() (available uint64, from string, err error) {
	available, err = memlimit.FromSystem()
	from = "machine"
	// FromCgroup returns an error if there is no limit, or if the limit cannot be read.
	if allowed, none := memlimit.FromCgroup(); none == nil && (err != nil || allowed < available) {
		available, from, err = allowed, "cgroup", nil
	}
	return available, from, err
}

// HostConcerns looks at what a daemon needs of its host: descriptors, disk, memory, clock. What cannot be found out is
// no concern. memory is how many bytes the process may take, 0 if unknown. If the disk does not answer, the caller
// waits.
func HostConcerns(cfg *config.Config, memory uint64) (all []Concern) {
	add := func(cure, what string, args ...any) { all = append(all, Concern{fmt.Sprintf(what, args...), cure}) }
	if limit, err := process.OpenFiles(); err == nil {
		used, err := process.UsedFiles()
		switch {
		case limit < uint64(cfg.Limits.Connections)+256: // and the database and the witnesses
			add("set LimitNOFILE in the unit, or lower limits.connections",
				"%d files may be open, and limits.connections is %d, with the database and the witnesses alongside",
				limit, cfg.Limits.Connections)
		case err == nil && used > limit/10*9:
			add("raise LimitNOFILE in the unit", "more than 9/10 of the files that may be open are open")
		}
	}
	if free, err := process.FreeSpace(cfg.Data); err == nil && free < littleSpace {
		add("make room", "less than %d MiB are free below the data directory", littleSpace>>20)
	}
	if memory != 0 && memory < leastMemory {
		add("give the daemon more memory", "%d MiB of memory are available, and a daemon needs %d: "+
			"many large batches at once may have the kernel end it", memory>>20, leastMemory>>20)
	}
	if resident, err := process.ResidentBytes(); err == nil && memory != 0 && resident > memory/20*19 {
		add("give the daemon more memory, or lower limits", "more than 95 %% of the available memory are in use")
	}
	if kept, err := process.ClockSynchronised(); err == nil && !kept {
		add("start a time service",
			"the kernel reports that no time service keeps the clock, and entries carry the clock's time")
	}
	return all
}
