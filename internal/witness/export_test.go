package witness

import "os"

// SetSync replaces what makes the state of a log durable.
func (w *Witness) SetSync(origin string, f func(*os.File) error) {
	w.logs[originHash(origin)].latest.file.Sync = f
}

// Fill takes all places of submissions, until release is called.
func (w *Witness) Fill() (release func()) {
	for range cap(w.slots) {
		w.slots <- struct{}{}
	}
	return func() {
		for range cap(w.slots) {
			<-w.slots
		}
	}
}
