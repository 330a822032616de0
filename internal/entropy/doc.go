// Package entropy reads tapes from the platform generator, tests them, and has the latch that stops
// tapes when a test fails. It is the only package that takes random bytes for a tape.
//
// A Source reads each tape with one read through crypto/rand. That is the operating system's generator, or in FIPS
// 140-3 mode the module's SP 800-90A DRBG, which mixes 128 bits of the operating system into every read. The program
// keeps no bytes for a later tape. There is no seed, no flag, no environment variable, and no second source.
//
// Where the kernel offers getrandom in its vDSO (Linux 6.11 and newer; Platform of internal/process says whether), Go's
// runtime reads there, in FIPS mode too: each thread has a ChaCha20 key of 256 bits in memory, which each read replaces
// and the kernel reseeds about once a minute. A forked copy is wiped. A virtual machine that is cloned while it runs
// repeats bytes, unless the kernel learns of it (vmgenid). The program cannot detect this.
//
// Every byte passes the repetition count test and the adaptive proportion test of NIST SP 800-90B
// section 4.4. They were made for raw noise sources. Behind a cryptographic generator they find
// only gross faults: a stuck value, a zeroed buffer, a short cycle of values. They cannot find a
// generator whose bytes look random and are known to somebody.
//
// If there is any doubt, the latch is set: the tape is discarded, and no tape is given out until an operator calls
// Clear with a reason and the start-up test passes again. No tape is read a second time.
//
// The latch is in memory. The owner of a Source writes it into the ledger (Config.OnLatch). The
// rules of the ledger then refuse commits, also after a restart.
package entropy
