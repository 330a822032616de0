package serving

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// TestStopCutsOff: a caller that takes longer than a stop may take is cut off, and the stop is none the worse for it.
func TestStopCutsOff(t *testing.T) {
	before := shutdownTime
	shutdownTime = 50 * time.Millisecond
	t.Cleanup(func() { shutdownTime = before })
	came, ended := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(came)
		<-r.Context().Done()
		close(ended)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var group errgroup.Group
	ServeUntil(ctx, &group, l, server, nil)
	asked := make(chan error, 1)
	go func() {
		_, err := http.Get("http://" + l.Addr().String())
		asked <- err
	}()
	<-came
	stop()
	if err := group.Wait(); err != nil {
		t.Errorf("the stop ends with: %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the request goes on")
		server.Close()
	}
	if err := <-asked; err == nil {
		t.Error("the caller got an answer")
	}
}
