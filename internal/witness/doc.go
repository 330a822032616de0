// Package witness is a witness of transparency logs and a client of witnesses:
// C2SP tlog-witness over HTTP.
//
// A witness cosigns a log's checkpoint after it has seen that the log only grew
// since the checkpoint it cosigned before. For each log it remembers one thing,
// that newest checkpoint, and all its worth hangs on never forgetting it: the
// state is on the disk before a cosignature leaves, one process holds it at a
// time, and what cannot be verified at start stops the start.
//
// Checkpoints and consistency proofs are judged by x/mod's sumdb/note and
// sumdb/tlog and by torchwood; cosignatures are checked by transparency-dev's
// formats. The only signature made here is that of a cosignature, because
// neither library takes the time to sign from its caller.
package witness
