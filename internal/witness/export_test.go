package witness

import "os"

// SetSync replaces (*os.File).Sync before the first request.
func (w *Witness) SetSync(f func(*os.File) error) { w.sync = f }
