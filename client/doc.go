// Package client is for game back ends. It asks a shuffled daemon for shuffles and draws, and mixes, deals and closes
// them. It returns an answer only after it has checked the evidence in it under the ledger's verifier key, which the
// caller has pinned: the commit against the request, each card against the deck root and the public mix, and the ledger
// against what it was before.
//
// Every call is safe to repeat, so the client repeats it when the network fails or the daemon asks for it, with growing
// pauses that are partly random. For this a commit has an idempotency key, which the caller chooses and keeps with the
// game before the call: after a crash the same key and the same request give the same shuffle. Prefer keys of NewKey,
// UUIDs of version 7: they keep the daemon's index warm. A random key costs a cold page each time.
//
// docs/CLIENT.md says how to integrate the client, and what to do with each error. The types of requests and answers
// are generated from the daemon's contract, openapi.yaml.
package client

//go:generate go tool oapi-codegen -config oapi-codegen.yaml ../internal/httpapi/openapi.yaml
