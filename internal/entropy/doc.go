// Package entropy is where tapes come from: the platform generator, read afresh
// for every tape, watched by health tests, behind a latch. It is the only
// package that takes random bytes for a tape.
//
// A Source reads each tape with one read through crypto/rand: the operating
// system's generator, or in FIPS 140-3 mode the module's SP 800-90A DRBG, which
// mixes bytes of the operating system into every read. No bytes are kept for a
// later tape, so a cloned process or virtual machine has no stock of bytes to
// repeat. There is no seed, no flag, no environment variable and no second
// source to fall back on.
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
