package sqlite

import (
	"testing"

	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
)

func BenchmarkAppend(b *testing.B) {
	storetest.Benchmark(b, func(b *testing.B) store.Database { return open(b, migrated(b)) })
}

func BenchmarkReads(b *testing.B) {
	storetest.BenchmarkReads(b, func(b *testing.B) store.Database { return open(b, migrated(b)) })
}
