// Package client is for game back ends: it asks a shuffled daemon for shuffles and
// draws, mixes, deals and closes them, and believes no answer before its evidence
// was checked against the ledger's verifier key, which the caller has pinned. What
// was committed to is held against what was asked for, each card against the deck
// root and the public mix, and the ledger against what it was before.
//
// Every call is safe to repeat, so every call is repeated when the daemon or the
// network asks for it, with a growing, jittered pause. A commit carries an
// idempotency key for that, chosen by the caller and kept with the game before
// the call: after a crash the same key and the same request give the same
// shuffle. Prefer keys of NewKey, UUIDs of version 7: they keep the daemon's
// index warm, where random keys cost a cold page each.
//
// How to integrate it, and what to do with each error, is in docs/CLIENT.md. The
// types of requests and answers are generated from the daemon's contract,
// openapi.yaml.
package client

//go:generate go tool oapi-codegen -config oapi-codegen.yaml ../internal/httpapi/openapi.yaml
