package host

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/process"
	"shuffled/internal/term"
)

// actFormat is the member format of the file of an act.
const actFormat = "shuffled/v1/act"

// actFile is an act that goes from one administrator to the next. Administrators sign the bytes of docs/SPEC.md
// section 5.11. The file has these bytes, and those whose hashes they contain. What people read is made from them.
type actFile struct {
	Format   string `json:"format"`
	Genesis  []byte `json:"genesis"`            // entry
	Entry    []byte `json:"entry"`              // body of the act's entry
	Identity string `json:"identity,omitempty"` // of the credential that submits what the act approves; "" for a cancel
	Type     uint8  `json:"type,omitzero"`      // of the entry that it approves; absent for a cancel
	Body     []byte `json:"body,omitempty"`     // body of that entry
}

// maxActFile bounds the file of an act in bytes.
const maxActFile = 128 << 10

// loadedAct is an act with all that it has hashes of.
type loadedAct struct {
	actFile
	of    *audit.Genesis
	entry *audit.ActEntry
	body  audit.Body // nil for a cancel
}

func loadAct(path string) (*loadedAct, error) {
	text, err := term.ReadBounded(path, maxActFile)
	if err != nil {
		return nil, err
	}
	a := new(loadedAct)
	if err := json.Unmarshal(text, &a.actFile, json.RejectUnknownMembers(true)); err != nil || a.Format != actFormat {
		return nil, fmt.Errorf("%s is no file of an act: shuffled act do makes such a file", path)
	}
	if a.of, err = genesisOf(a.Genesis); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	entry, err := audit.ParseBody(audit.TypeAct, a.Entry)
	if err != nil {
		return nil, fmt.Errorf("%s: its entry: %w", path, err)
	}
	a.entry = entry.(*audit.ActEntry)
	if a.Type != 0 {
		if a.body, err = audit.ParseBody(audit.Type(a.Type), a.Body); err != nil {
			return nil, fmt.Errorf("%s: what it approves: %w", path, err)
		}
	}
	needs, ok := audit.ActFor(a.body)
	switch {
	case a.body == nil && a.entry.Act != audit.ActCancel:
		return nil, fmt.Errorf("%s: the act approves no entry", path)
	case a.body != nil && (!ok || needs != a.entry.Act || audit.Approved(a.Identity, a.body) != a.entry.Digest):
		return nil, fmt.Errorf("%s: the signed act does not approve the entry in the file", path)
	}
	return a, nil
}

// genesisOf reads the entry that begins a ledger. Its hash is signed with each act.
func genesisOf(entry []byte) (*audit.Genesis, error) {
	e, err := audit.ParseEntry(entry)
	if err != nil {
		return nil, fmt.Errorf("the genesis entry: %w", err)
	}
	g, ok := e.Body.(*audit.Genesis)
	if !ok {
		return nil, errors.New("the entry that should begin the ledger is another one")
	}
	return g, nil
}

// signedBytes are what administrators sign.
func (a *loadedAct) signedBytes() []byte { return a.entry.Signed(sha256.Sum256(a.Genesis)) }

// says is what the act does, in words.
func (a *loadedAct) says() string { return approves(a.entry, a.body) }

// needsTwo reports whether the ledger asks for another administrator's signature.
func (a *loadedAct) needsTwo(p ledger.Persons) bool {
	return a.body != nil && len(a.entry.Signatures) < 2 && slices.Contains(p.TwoPersons, a.entry.Act)
}

// check verifies the signature that the act has. public is the .vkey file of its administrator, who may have come after
// the genesis or have another key since. Without it the genesis must name the administrator.
func (a *loadedAct) check(public string) (err error) {
	if len(a.entry.Signatures) > 1 {
		return errors.New("two administrators have signed the act: shuffled act submit submits it")
	}
	sig, key := a.entry.Signatures[0], []byte(nil)
	if public != "" {
		if key, err = readPublic(public, sig.Administrator); err != nil {
			return err
		}
	} else if i := slices.IndexFunc(a.of.Administrators,
		func(of audit.Administrator) bool { return of.Name == sig.Administrator }); i >= 0 {
		key = a.of.Administrators[i].Key
	}
	v, err := audit.Verifier(sig.Administrator, key)
	if err != nil || !v.Verify(a.signedBytes(), sig.Signature[:]) {
		return term.WithHint(fmt.Errorf("the key of %s does not prove the signature of this name", sig.Administrator),
			"if this administrator or this key came after the genesis of the ledger, name the .vkey file with --public")
	}
	return nil
}

// save writes or replaces the file.
func (a *loadedAct) save(path string) error {
	a.Entry = audit.EncodeBody(a.entry)
	text, err := json.Marshal(&a.actFile, jsontext.WithIndent("  "))
	if err == nil {
		err = process.ReplaceBytes(path, 0o644, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the act: %w", err)
	}
	return nil
}

// approves says in words what an act does.
func approves(a *audit.ActEntry, body audit.Body) string {
	switch b := body.(type) {
	case *audit.Key:
		return approvesKey(b)
	case *audit.Event:
		switch b.Kind {
		case audit.EventHeadAdopted:
			return fmt.Sprintf("adopt the stored head of %d entries, root %s, and revoke every credential, because: %s. "+
				"If a newer head was ever shown to anybody, what is signed from then on is a fork", b.Size,
				base64.StdEncoding.EncodeToString(b.Digest[:]), b.Reason)
		case audit.EventLatchClear:
			return "clear the entropy latch, because: " + b.Reason
		}
		return fmt.Sprintf("clear the kill switch of the %s, because: %s", switchWords(b), b.Reason)
	case *audit.Credential:
		said := fmt.Sprintf("create the admin's credential %s of %s, a %s", b.ID, b.Identity, b.Form)
		if b.Expires != 0 {
			said += " that expires at " + listed(b.Expires)
		}
		return said
	case *audit.Takeover:
		return fmt.Sprintf("let the submitter play on shuffle %d, because: %s", b.Shuffle, b.Reason)
	}
	return "cancel the act that waits with the digest " + base64.StdEncoding.EncodeToString(a.Digest[:])
}

func approvesKey(k *audit.Key) string {
	id, key := audit.KeyID(k.Public), base64.StdEncoding.EncodeToString(k.Public)
	switch k.Subject {
	case audit.SubjectPolicy:
		return fmt.Sprintf("put this witness policy into force: %q", k.Policy)
	case audit.SubjectRetirement:
		return fmt.Sprintf("retire the %s key %s from %s on", k.Retired, base64.StdEncoding.EncodeToString(k.ID[:]),
			listed(k.From))
	case audit.SubjectAdministrator:
		return fmt.Sprintf("%s administrator %s, key %s", k.Admin, k.Name, key)
	case audit.SubjectCoDealer:
		if k.Origin == "" {
			return "let commits name no co-dealer"
		}
		return fmt.Sprintf("let commits name the co-dealer %s, key %s (every commit: %t), policy: %q", k.Origin, key,
			k.Every, k.Policy)
	case audit.SubjectTwoPersons:
		return fmt.Sprintf("ask two administrators for %v, and let an act of one wait %d s", k.Acts, k.Delay)
	}
	return fmt.Sprintf("bring the %s key %s into force: %s", k.Subject, base64.StdEncoding.EncodeToString(id[:]), key)
}

// sign adds a signature. Signatures are in the order of the administrators' names.
func (a *loadedAct) sign(key *keys.SigningKey) error {
	if time.Now().UnixMilli() >= a.entry.Expires {
		return fmt.Errorf("the act expired at %s: make it again", listed(a.entry.Expires))
	}
	signature, err := key.Signer().Sign(a.signedBytes())
	if err != nil {
		return err
	}
	made := audit.ActSignature{Administrator: key.Origin()}
	copy(made.Signature[:], signature)
	at, signed := slices.BinarySearchFunc(a.entry.Signatures, made.Administrator,
		func(s audit.ActSignature, name string) int { return cmp.Compare(s.Administrator, name) })
	same := func(s audit.ActSignature) bool { return s.Signature == made.Signature }
	if signed || slices.ContainsFunc(a.entry.Signatures, same) {
		return errors.New("this administrator has already signed the act")
	}
	a.entry.Signatures = slices.Insert(a.entry.Signatures, at, made)
	return nil
}
