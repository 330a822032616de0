// Package terms reads and makes the terms of a shuffle, which say what its values mean:
// wheels, pay tables and lists of tickets (docs/SPEC.md sections 5.2 and 16).
//
// A context holds the hash of a document, or the root of a list. This package makes
// neither entries nor keys, and asks nobody.
package terms
