// Package load puts a running daemon under load and measures it, with what the
// evidence is worth: what the daemon acknowledged is verified against the
// ledger's key afterwards, outside of the measured time.
//
// Without a rate every connection sends its next request when it has the answer
// to the last one: that finds the largest throughput. With a rate requests are
// due at fixed times, whether or not the daemon keeps up, and latency counts from
// the time a request was due, so that a stall is seen in all the requests that it
// held up and not in one.
//
// The generator usually shares a machine with what it measures, so it is lean:
// one connection for each worker, written and read without net/http, no lock on
// the way, and nothing checked while the clock runs that can be checked later.
package load
