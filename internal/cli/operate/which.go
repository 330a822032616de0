package operate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"shuffled/client"
	"shuffled/internal/audit"
)

// ShuffleArg names a shuffle by its id or by its table.
type ShuffleArg struct {
	Number uint64 // the id; 0 for a table's shuffle until it is found
	table  string // "" for an id
	serial uint64 // 0 for the open shuffle of the table
}

// UnmarshalText reads an id, @TABLE or @TABLE:SERIAL.
func (a *ShuffleArg) UnmarshalText(text []byte) (err error) {
	wrong := fmt.Errorf("%q names no shuffle: give its id, as 41, or @TABLE for the open shuffle of a table, or @TABLE:SERIAL", text)
	at, named := strings.CutPrefix(string(text), "@")
	if !named {
		if a.Number, err = strconv.ParseUint(at, 10, 63); err != nil {
			return wrong
		}
		return nil
	}
	table, serial, numbered := strings.Cut(at, ":")
	if numbered {
		if a.serial, err = strconv.ParseUint(serial, 10, 63); err != nil || a.serial == 0 {
			return wrong
		}
	}
	if audit.CheckName(table) != nil {
		return wrong
	}
	a.table = table
	return nil
}

// load returns the shuffle. Its commit is proved.
func (a *ShuffleArg) load(ctx context.Context, d *client.Client) (*client.Committed, error) {
	if a.table == "" {
		return d.Load(ctx, a.Number)
	}
	s, err := d.LoadAt(ctx, a.table, a.serial)
	if err == nil {
		a.Number = s.ID
	}
	return s, err
}

// find finds the id of a table's shuffle.
func (a *ShuffleArg) find(ctx context.Context, d *client.Client) error {
	if a.table == "" {
		return nil
	}
	_, err := a.load(ctx, d)
	return err
}
