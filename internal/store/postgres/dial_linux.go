package postgres

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// userTimeout ends a connection to a machine that vanished while data was on its way to it. On a silent connection,
// keep-alive probes do this.
func (o Options) userTimeout(network, _ string, conn syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	controlled := conn.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(2*o.Timeout.Milliseconds()))
	})
	return errors.Join(controlled, err)
}
