//go:build !linux

package process

func kernelRelease() string { return "" }

func vdsoGetrandom() VDSO { return VDSOUnknown }

// NoDumps does nothing: it is only done on Linux.
func NoDumps() error { return nil }

// Lock locks nothing, and says so.
func Lock() Locked { return Locked{Note: "only done on Linux"} }
