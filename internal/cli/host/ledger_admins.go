package host

import (
	"cmp"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/term"
)

// administrators reads the keys of those who approve acts. Each key file is of the
// administrator that it is given for.
func (c ledgerCreateCmd) administrators() (all []audit.Administrator, err error) {
	for _, given := range c.Admins {
		name, path, ok := strings.Cut(given, "=")
		if !ok || audit.CheckName(name) != nil {
			return nil, term.Usage("--administrator is NAME=FILE.vkey: a name of letters, digits, '.', '_' and '-', and a verifier key file")
		}
		key, err := readPublic(path, name)
		if err != nil {
			return nil, term.Usage("--administrator %s: %s", name, err)
		}
		all = append(all, audit.Administrator{Name: name, Key: key})
	}
	slices.SortFunc(all, func(a, b audit.Administrator) int { return cmp.Compare(a.Name, b.Name) })
	if c.Production && len(all) < 2 {
		return nil, term.Usage("a production ledger names at least two administrators: --administrator alice=alice.vkey --administrator bob=bob.vkey, made by shuffled key generate administrator --name alice --out alice.key")
	}
	return all, nil
}

// TwoPersons are the acts that need two administrators, where there are two: all that are.
func TwoPersons(administrators []audit.Administrator) (acts []audit.Act) {
	if len(administrators) < 2 {
		return nil
	}
	for a := audit.ActPolicy; a < audit.ActCancel; a++ {
		acts = append(acts, a)
	}
	return acts
}
