package process

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
)

// ReplaceFile replaces a file, which need not exist, with what write writes. The new file is written under another
// name, synced and renamed, so that the file under path is always whole. The caller makes the name durable: SyncDir.
func ReplaceFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	if err = write(out); err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
