//go:build !linux

package postgres

import "syscall"

// userTimeout does nothing: keep-alive probes must do.
func (Options) userTimeout(string, string, syscall.RawConn) error { return nil }
