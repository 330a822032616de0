// Package load puts a running daemon under load, measures it, and checks its evidence: answers of the
// daemon are verified under the ledger's key afterwards, outside the measured time.
//
// Without a rate every connection sends its next request when it has the answer to the last one. This finds the highest
// throughput. With a rate requests are due at fixed times, whether or not the daemon keeps up, and latency counts from
// the time when a request was due. A stall then shows in all the requests that it delayed and not in one.
//
// The generator usually shares a machine with the daemon, so it uses little processor time: one connection
// for each worker, written and read without net/http, no lock for a request, and no check during the
// measured time that can be made later.
package load
