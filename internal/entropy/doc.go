// Package entropy is where tapes come from: the platform generator, read afresh
// for every tape, watched by health tests, behind a latch. It is the only
// package that takes random bytes for a tape.
//
// A Source reads each tape with one read through crypto/rand: the operating
// system's generator, or in FIPS 140-3 mode the module's SP 800-90A DRBG, which
// mixes 128 bits of the operating system into every read. The program keeps no
// bytes for a later tape. There is no seed, no flag, no environment variable and no
// second source to fall back on.
//
// Below the program there is a state. Where the kernel offers getrandom in its vDSO
// (Linux 6.11 and newer; Platform of internal/process says whether it
// does), Go's runtime reads there: for each thread a ChaCha20 key of 256 bits and
// what is left of one batch lie in memory of the process, in FIPS mode too. Most
// reads then make no system call. The key is replaced by each read, so that it tells
// nothing of tapes before; all later reads of that thread follow from it until the
// kernel reseeds, about once a minute. The kernel wipes that memory in a forked
// copy. A virtual machine that is cloned while it runs repeats bytes unless the
// kernel learns of it (vmgenid); the program cannot tell.
//
// Every byte passes the repetition count test and the adaptive proportion test
// of NIST SP 800-90B section 4.4. What they can do is limited. They were made
// for raw noise sources; behind a cryptographic generator they catch gross
// faults only: a stuck value, a zeroed buffer, a short cycle of values. They
// cannot see a generator whose bytes look random and are known to somebody.
//
// Any doubt latches: the tape is discarded, and no tape is given out until an
// operator calls Clear with a reason and the start-up test passes again. Bytes
// are never read a second time in the hope of better ones.
//
// The latch is in memory. The owner of a Source writes it into the ledger
// (Config.OnLatch), whose rules refuse commits from then on, also after a restart.
package entropy
