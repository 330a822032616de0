package verify

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/transparency-dev/formats/witness"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// Limits of a policy. C2SP asks for room for 32 logs, witnesses and groups; a
// key is at most the 2 kB of ML-DSA-44.
const (
	maxPolicy      = 128 << 10 // bytes
	maxPolicyLines = 64        // of each kind
)

// Types of Ed25519 keys: of a signed note, and of a cosignature.
const (
	typeEd25519     = 0x01
	typeCosignature = 0x04
)

// parsePolicy reads a C2SP tlog-policy. The parser of transparency-dev/formats
// knows keys and quorums but skips log lines and is laxer than the
// specification where it matters: it takes thresholds of 0 and members named
// twice, and it wants a URL for each witness. So the lines are read here first.
func parsePolicy(text []byte) (*trusted, error) {
	if len(text) > maxPolicy {
		return nil, fmt.Errorf("reading the policy: %d bytes, at most %d", len(text), maxPolicy)
	}
	p := policy{members: make(map[string]bool), keys: make(map[string]bool)}
	for i, line := range strings.Split(string(text), "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("reading the policy: line %d: %w", i+1, err)
		}
	}
	if p.quorums != 1 {
		return nil, fmt.Errorf("reading the policy: one quorum line is wanted, not %d", p.quorums)
	}
	group, err := witness.ParsePolicy([]byte(p.quorum.String()))
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	return &trusted{keys: p.logs, quorum: &group}, nil
}

// policy is what was read so far.
type policy struct {
	logs                       []note.Verifier
	witnesses, groups, quorums int
	members                    map[string]bool // names that are in a group: each in one, once
	keys                       map[string]bool // public keys of logs and of witnesses: each once
	quorum                     strings.Builder // the lines of the quorum, as formats wants them
}

func (p *policy) line(line string) error {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
		return nil
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && (r < 0x20 || r > 0x7e) }) {
		return errors.New("printable ASCII, spaces and tabs are wanted")
	}
	switch fields[0] {
	case "log":
		return p.log(fields)
	case "witness":
		return p.witness(fields)
	case "group":
		return p.group(fields)
	case "quorum":
		if p.quorums++; len(fields) != 2 {
			return errors.New("a quorum is one name")
		}
		fmt.Fprintln(&p.quorum, strings.Join(fields, " "))
		return nil
	}
	return fmt.Errorf("%q is no log, witness, group or quorum", fields[0])
}

func (p *policy) log(fields []string) error {
	if len(fields) < 2 || len(fields) > 3 || len(p.logs) == maxPolicyLines {
		return fmt.Errorf("a log is a key and perhaps a URL, at most %d of them", maxPolicyLines)
	}
	key, err := audit.ParseVKey(fields[1])
	if err != nil {
		return err
	}
	p.logs = append(p.logs, key)
	return p.once("log", fields[1])
}

func (p *policy) witness(fields []string) error {
	if p.witnesses++; len(fields) < 3 || len(fields) > 4 || p.witnesses > maxPolicyLines {
		return fmt.Errorf("a witness is a name, a key and perhaps a URL, at most %d of them", maxPolicyLines)
	}
	// Nothing is asked of the witness here, so its URL does not matter.
	fmt.Fprintf(&p.quorum, "witness %s %s https://witness.invalid/\n", fields[1], fields[2])
	return p.once("witness", fields[2])
}

// once refuses the same public key twice for logs or for witnesses, whatever its
// name and type: one witness under two names would be two votes. Weak keys are
// refused too, for a signature under them proves nothing.
func (p *policy) once(use, vkey string) error {
	key, err := audit.SigningKey(vkey)
	if err != nil || len(key) < 2 {
		return errors.New("a key is name+hash+base64")
	}
	if key[0] == typeEd25519 || key[0] == typeCosignature {
		if err := audit.CheckEd25519(key[1:]); err != nil {
			return err
		}
	}
	id := use + " " + string(key[1:])
	if p.keys[id] {
		return errors.New("the same key stands twice")
	}
	p.keys[id] = true
	return nil
}

func (p *policy) group(fields []string) error {
	if p.groups++; len(fields) < 4 || p.groups > maxPolicyLines {
		return fmt.Errorf("a group is a name, a threshold and members, at most %d of them", maxPolicyLines)
	}
	threshold, members := fields[2], fields[3:]
	if !slices.Contains([]string{"any", "all"}, threshold) {
		if k, err := strconv.Atoi(threshold); err != nil || k < 1 || k > len(members) {
			return fmt.Errorf("a threshold is any, all or 1 to %d, not %q", len(members), threshold)
		}
	}
	for _, m := range members {
		if p.members[m] {
			return fmt.Errorf("%q is a member twice", m)
		}
		p.members[m] = true
	}
	fmt.Fprintln(&p.quorum, strings.Join(fields, " "))
	return nil
}
