// Package trust says whose signatures count for a ledger, and when: the history of its keys, witness policies and their
// quorums, and what a caller pins.
package trust

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// Limits of a policy. That of its bytes is audit.MaxPolicyFile.
const (
	maxPolicyLine  = 8192 // bytes
	maxPolicyLines = 64   // of each kind: logs, witnesses, groups
)

// Policy is a C2SP tlog-policy: which logs are trusted, which witnesses there
// are, and which of them make a quorum (docs/SPEC.md section 7.3).
type Policy struct {
	Logs      []note.Verifier // keys of log lines, perhaps none
	Witnesses []Witness       // in the policy's order, whether the quorum needs them or not
	Text      string          // as it was read
	LogKeys   [][]byte        // public keys of log lines, type byte first
	quorum    *node           // nil for quorum none
}

// Witness is a witness line of a policy.
type Witness struct {
	Name string        // what groups and the quorum call it
	Key  note.Verifier // checks cosignatures, and is named as their signer; of an unknown type: takes none
	VKey string        // the verifier key as text
	URL  string        // submission prefix as it stands in the policy, unchecked; "" if none
	node *node         // lines whose keys have one name are one witness
}

// ParsePolicy reads a C2SP tlog-policy. A witness key of an unknown type cosigns
// nothing; a quorum that cannot be met without one is ErrUnknown.
//
// The parser of transparency-dev/formats accepts policies that the specification
// refuses, and does not show the tree of groups, which Overlap needs.
func ParsePolicy(text []byte) (*Policy, error) {
	if len(text) > audit.MaxPolicyFile {
		return nil, fmt.Errorf("reading the policy: %d bytes, at most %d", len(text), audit.MaxPolicyFile)
	}
	if !utf8.Valid(text) {
		return nil, errors.New("reading the policy: UTF-8 is wanted")
	}
	p := policyReader{nodes: make(map[string]*node), witnesses: make(map[string]*node), members: make(map[*node]bool),
		known: make(map[*node]bool), keys: make(map[string]bool)}
	for i, line := range strings.Split(string(text), "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("reading the policy: line %d: %w", i+1, err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	p.policy.Text = string(text)
	return &p.policy, nil
}

// policyReader is what was read so far.
type policyReader struct {
	policy          Policy
	groups, quorums int
	quorum          string
	nodes           map[string]*node // by the name that a line gave
	witnesses       map[string]*node // by the name of the key
	members         map[*node]bool   // that are in a group: each in one
	known           map[*node]bool   // witnesses of whom one key is of a known type
	keys            map[string]bool  // public keys of logs and of witnesses: each once
}

func (p *policyReader) finish() error {
	if p.quorums != 1 {
		return fmt.Errorf("one quorum line is wanted, not %d", p.quorums)
	}
	if p.quorum != "none" {
		if p.policy.quorum = p.nodes[p.quorum]; p.policy.quorum == nil {
			return fmt.Errorf("the quorum %q is no witness and no group", p.quorum)
		}
	}
	for _, log := range p.policy.Logs { // in its own log lines the ledger is no witness
		if err := p.policy.CheckWitnesses(log.Name(), Among(p.policy.LogKeys)); err != nil {
			return err
		}
	}
	if q := p.policy.quorum; q != nil && !q.met(p.known) {
		return fmt.Errorf("the quorum cannot be met without a witness key of an unknown type: %w", audit.ErrUnknown)
	}
	return nil
}

// define gives a witness or group its name.
func (p *policyReader) define(name string, n *node) error {
	switch name {
	case "log", "witness", "group", "quorum", "any", "all", "none":
		return fmt.Errorf("%q is a word of policies and no name", name)
	}
	if p.nodes[name] != nil {
		return fmt.Errorf("%q stands for two", name)
	}
	p.nodes[name] = n
	return nil
}

func (p *policyReader) line(line string) error {
	if len(line) > maxPolicyLine {
		return fmt.Errorf("%d bytes, at most %d", len(line), maxPolicyLine)
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
		return errors.New("a control character")
	}
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
		return nil
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e || r == '#' }) {
		return errors.New("printable ASCII is wanted, and # begins lines only")
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
		p.quorum = fields[1]
		return nil
	}
	return fmt.Errorf("%q is no log, witness, group or quorum: a key stands behind the word log", fields[0])
}

func (p *policyReader) log(fields []string) error {
	if len(fields) < 2 || len(fields) > 3 || len(p.policy.Logs) == maxPolicyLines {
		return fmt.Errorf("a log is a key and perhaps a URL, at most %d of them", maxPolicyLines)
	}
	key, err := audit.ParseVKey(fields[1])
	if err != nil {
		return err
	}
	public, err := audit.SigningKey(fields[1])
	if err != nil {
		return err
	}
	p.policy.Logs, p.policy.LogKeys = append(p.policy.Logs, key), append(p.policy.LogKeys, public)
	return p.once("log", public)
}

func (p *policyReader) witness(fields []string) error {
	if len(fields) < 3 || len(fields) > 4 || len(p.policy.Witnesses) == maxPolicyLines {
		return fmt.Errorf("a witness is a name, a key and perhaps a URL, at most %d of them", maxPolicyLines)
	}
	w := Witness{Name: fields[1], VKey: fields[2]}
	if len(fields) == 4 {
		w.URL = fields[3]
	}
	public, err := audit.SigningKey(w.VKey)
	if err != nil {
		return err
	}
	w.Key, err = audit.ParseWitnessVKey(w.VKey)
	unknown := errors.Is(err, audit.ErrUnknown)
	if unknown {
		w.Key, err = parseUnknown(w.VKey, public)
	}
	if err != nil {
		return err
	}
	if len(w.Key.Name()) > audit.MaxKeyName {
		return fmt.Errorf("the name of a witness's key has 1 to %d bytes", audit.MaxKeyName)
	}
	if w.node = p.witnesses[w.Key.Name()]; w.node == nil {
		w.node = &node{name: w.Name, d: 1}
		p.witnesses[w.Key.Name()] = w.node
	}
	p.known[w.node] = p.known[w.node] || !unknown
	p.policy.Witnesses = append(p.policy.Witnesses, w)
	if err := p.define(w.Name, w.node); err != nil {
		return err
	}
	return p.once("witness", public)
}

// unknownKey stands for a witness's key of an unknown type: no signature of it holds.
type unknownKey struct {
	name string
	id   uint32
}

func (k unknownKey) Name() string          { return k.name }
func (k unknownKey) KeyHash() uint32       { return k.id }
func (unknownKey) Verify(_, _ []byte) bool { return false }

// parseUnknown reads a verifier key of an unknown type. How such a type makes the id of its keys is not known here.
func parseUnknown(vkey string, key []byte) (note.Verifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	id, err := strconv.ParseUint(parts[1], 16, 32)
	if err != nil || parts[0] == "" || len(key) < 2 ||
		vkey != fmt.Sprintf("%s+%08x+%s", parts[0], id, base64.StdEncoding.EncodeToString(key)) {
		return nil, errors.New("reading a witness key: not in its one encoding")
	}
	return unknownKey{parts[0], uint32(id)}, nil
}

// once refuses a public key that stands twice among the logs or among the witnesses, also under
// another name: one witness under two names would have two votes.
func (p *policyReader) once(use string, public []byte) error {
	id := use + " " + string(public)
	if p.keys[id] {
		return errors.New("the same key stands twice")
	}
	p.keys[id] = true
	return nil
}

func (p *policyReader) group(fields []string) error {
	if p.groups++; len(fields) < 4 || p.groups > maxPolicyLines {
		return fmt.Errorf("a group is a name, a threshold and members, at most %d of them", maxPolicyLines)
	}
	g := &node{name: fields[1]}
	for i, name := range fields[3:] {
		m := p.nodes[name]
		switch {
		case m == nil:
			return fmt.Errorf("%q is no witness or group of a line above", name)
		case slices.Contains(fields[3:3+i], name) || p.members[m] && !slices.Contains(g.members, m):
			return fmt.Errorf("%q is a member twice", name)
		}
		if !slices.Contains(g.members, m) { // another line of one witness counts once
			p.members[m] = true
			g.members = append(g.members, m)
		}
	}
	switch threshold, n := fields[2], len(g.members); threshold {
	case "any":
		g.need = 1
	case "all":
		g.need = n
	default:
		k, err := strconv.Atoi(threshold)
		if err != nil || k < 1 || k > n || strconv.Itoa(k) != threshold {
			return fmt.Errorf("a threshold is any, all or 1 to %d, not %q", n, threshold)
		}
		g.need = k
	}
	g.settle()
	return p.define(g.name, g)
}

// Trusted is what a caller knows of a ledger from elsewhere.
type Trusted struct {
	Keys   []note.Verifier // any of them may sign; empty: nothing is pinned
	Public [][]byte        // the same keys, type byte first
	Policy *Policy         // nil: none was given
}

// ParseTrust reads a ledger's verifier key or a C2SP tlog-policy, of which at most one
// is given. The log lines of a policy pin keys, its quorum asks for cosignatures.
func ParseTrust(vkey string, policy []byte) (Trusted, error) {
	switch {
	case vkey != "" && policy != nil:
		return Trusted{}, errors.New("trust in a key or in a policy, not in both")
	case policy != nil:
		p, err := ParsePolicy(policy)
		if err != nil {
			return Trusted{}, err
		}
		return Trusted{Keys: p.Logs, Public: p.LogKeys, Policy: p}, nil
	case vkey != "":
		key, err := audit.ParseVKey(vkey)
		if err != nil {
			return Trusted{}, fmt.Errorf("reading the trusted key: %w", err)
		}
		public, err := audit.SigningKey(vkey)
		return Trusted{Keys: []note.Verifier{key}, Public: [][]byte{public}}, err
	}
	return Trusted{}, nil
}
