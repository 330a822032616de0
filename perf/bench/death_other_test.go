//go:build !linux

package bench

import "os/exec"

func tie(*exec.Cmd) {}
