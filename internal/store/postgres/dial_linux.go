package postgres

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h: how many milliseconds sent data may stay unacknowledged (RFC
// 5482).
const tcpUserTimeout = 18

// userTimeout ends a connection to a machine that vanished while data was on its way to it. On a silent connection,
// keep-alive probes do this.
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
