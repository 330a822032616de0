//go:build !linux

package process

func kernelRelease() string { return "" }

func vdsoGetrandom() VDSO { return VDSOUnknown }

func noDumps() error { return nil }

func lock() Locked { return Locked{Note: "only done on Linux"} }
