// Package kit makes what a test lab requires in addition to samples and results: the source with a digest
// of each file, documents about the generator, the list of every use of randomness, and a manifest that
// says which digests another machine reproduces and which are those of samples.
package kit
