//go:build !linux

package postgres

import "syscall"

// userTimeout does nothing: only keep-alive probes end a connection to a machine that vanished.
func (Options) userTimeout(string, string, syscall.RawConn) error { return nil }
