// Package process protects the process itself, and says what it knows of the machine: no core dumps, memory that is not
// written to swap, the kernel, and where its random bytes come from. It also has what files need: locks, and replacing
// a file as a whole.
//
// None of this stops root on the live host, who can read all memory.
package process

import (
	"crypto/fips140"
	"sync"
)

// Facts say where random bytes come from below this program, as far as it can tell.
type Facts struct {
	Kernel string // release of the kernel, as uname -r prints it; "" when it is not known
	VDSO   VDSO
	FIPS   bool // Go's cryptographic module runs in FIPS 140-3 mode
}

// VDSO says whether the kernel offers getrandom in its vDSO (Linux 6.11 and newer). If it does, Go's runtime asks
// there, and makes no system call for most reads: a state of the kernel's generator lies in memory of the process
// (internal/entropy).
type VDSO string

// Whether the vDSO has getrandom.
const (
	VDSOYes     VDSO = "yes"
	VDSONo      VDSO = "no"
	VDSOUnknown VDSO = "unknown" // the image could not be read, or this is no Linux
)

// Platform returns the facts. They do not change while the process lives.
var Platform = sync.OnceValue(func() Facts {
	return Facts{Kernel: kernelRelease(), VDSO: vdsoGetrandom(), FIPS: fips140.Enabled()}
})

// Locked says how much of the memory stays out of swap.
type Locked struct {
	All  bool   // all memory, whether it is mapped now or later
	Now  bool   // the memory that is mapped now
	Note string // for the log: what is locked, or why nothing is, and what would help
}
