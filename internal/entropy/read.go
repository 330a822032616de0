package entropy

import (
	"crypto/rand"
	"errors"
	"io"
	"reflect"
)

var errReplaced = errors.New("crypto/rand.Reader is not the platform generator")

// platform is crypto/rand.Reader as it was when this package was initialised. Any linked package may assign
// crypto/rand.Reader, in FIPS mode too, and rand.Read would then hand out that package's bytes.
var platform = rand.Reader

// readPlatform fills b from the platform generator. It refuses if crypto/rand.Reader was replaced. It calls the reader
// that was captured, so that a replacement between check and read has no effect. It needs no deadline: after the system
// has booted the generator neither blocks nor fails. If the system call fails, crypto/rand ends the process.
func readPlatform(b []byte) (int, error) {
	if rand.Reader != platform || !genuine {
		return 0, errReplaced
	}
	return platform.Read(b)
}

// genuine is false if another package replaced the reader before it was captured.
var genuine = isGenuine(platform)

// isGenuine reports whether r has the type of the platform generator in Go 1.26. The type is
// unexported, in a package that no other module may import, so only the standard library makes
// values of it. The type has no state, so one value is as good as another.
func isGenuine(r io.Reader) bool {
	t := reflect.TypeOf(r)
	return t != nil && t.PkgPath() == "crypto/internal/rand" && t.Name() == "reader"
}
