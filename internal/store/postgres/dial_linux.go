package postgres

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h: for how long, in
// milliseconds, what was sent may stay unacknowledged (RFC 5482).
const tcpUserTimeout = 18

// userTimeout ends a connection to a machine that has vanished while it was being
// asked; without an answer on its way, keep-alive probes do.
func (o Options) userTimeout(network, _ string, conn syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	set := func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(2*o.Timeout.Milliseconds()))
	}
	if controlled := conn.Control(set); controlled != nil {
		return controlled
	}
	return err
}
