package bundle

import "fmt"

// list is a list of checkpoints in files of Width, as it grows.
type list struct {
	dir   *directory
	name  string
	count *uint64
	file  [][]byte // the one that is not full
	last  []byte
}

// continued opens the list of count checkpoints in a directory of the bundle.
func (x *export) continued(name string, count *uint64) (*list, error) {
	l := &list{dir: x.dir, name: name, count: count}
	width := widthOf(*count, *count/Width)
	var err error
	switch {
	case width > 0:
		l.file, err = readFramed(x.fsys, framedPath(name, *count/Width, width), width, maxCheckpoints)
		l.last = last(l.file)
	case *count > 0:
		var full [][]byte
		full, err = readFramed(x.fsys, framedPath(name, *count/Width-1, Width), Width, maxCheckpoints)
		l.last = last(full)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return l, nil
}

func last(list [][]byte) []byte {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

func (l *list) add(checkpoint []byte) error {
	l.file, l.last = append(l.file, checkpoint), checkpoint
	*l.count++
	if len(l.file) < Width {
		return nil
	}
	return l.write()
}

func (l *list) end() error {
	if len(l.file) == 0 {
		return nil
	}
	return l.write()
}

func (l *list) write() error {
	var b []byte
	for _, c := range l.file {
		b = appendFramed(b, c)
	}
	name := framedPath(l.name, (*l.count-1)/Width, len(l.file))
	l.file = nil
	return l.dir.put(name, b)
}
