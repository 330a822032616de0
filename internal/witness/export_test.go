package witness

import "os"

// SetSync replaces what makes the state of a log durable.
func (w *Witness) SetSync(origin string, f func(*os.File) error) {
	w.logs[originHash(origin)].latest.file.Sync = f
}
