package host

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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
// section 5.11. The words are for people, and loadAct compares them with the bytes.
type actFile struct {
	Format   string `json:"format"`
	Ledger   string `json:"ledger"`         // origin
	Act      string `json:"act"`            // the word for its code
	Says     string `json:"says"`           // what it does, in words
	Identity string `json:"identity"`       // of the credential that submits it
	Expires  string `json:"expires"`        // RFC 3339
	Genesis  []byte `json:"genesis"`        // SHA-256 of the genesis entry
	Entry    []byte `json:"entry"`          // body of the act's entry
	Type     uint8  `json:"type,omitzero"`  // of the entry that it approves; absent for a cancel
	Body     []byte `json:"body,omitempty"` // body of that entry
}

// maxActFile bounds the file of an act in bytes.
const maxActFile = 128 << 10

// loadedAct is an act whose words and bytes agree.
type loadedAct struct {
	actFile
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
	body, err := audit.ParseBody(audit.TypeAct, a.Entry)
	if err != nil {
		return nil, fmt.Errorf("%s: its entry: %w", path, err)
	}
	a.entry = body.(*audit.ActEntry)
	if a.Type != 0 {
		if a.body, err = audit.ParseBody(audit.Type(a.Type), a.Body); err != nil {
			return nil, fmt.Errorf("%s: what it approves: %w", path, err)
		}
	}
	return a, a.agrees(path)
}

// needsTwo reports whether the ledger asks for another administrator's signature.
func (a *loadedAct) needsTwo(p ledger.Persons) bool {
	return a.body != nil && len(a.entry.Signatures) < 2 && slices.Contains(p.TwoPersons, a.entry.Act)
}

// agrees returns an error if the words of the file do not say what is signed.
func (a *loadedAct) agrees(path string) error {
	needs, ok := audit.ActFor(a.body)
	switch {
	case len(a.Genesis) != 32:
		return fmt.Errorf("%s: genesis is not 32 bytes", path)
	case a.body == nil && a.entry.Act != audit.ActCancel:
		return fmt.Errorf("%s: the act approves no entry", path)
	case a.body != nil && (!ok || needs != a.entry.Act || audit.Approved(a.Identity, a.body) != a.entry.Digest):
		return fmt.Errorf("%s: the signed act does not approve the entry in the file", path)
	case a.Act != a.entry.Act.String() || a.Says != approves(a.entry, a.body) || a.Expires != listed(a.entry.Expires):
		return fmt.Errorf("%s: the words of the file do not describe the signed act", path)
	}
	return nil
}

// save writes or replaces the file.
func (a *loadedAct) save(path string) error {
	a.Entry = audit.EncodeBody(a.entry)
	text, err := json.Marshal(&a.actFile, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("writing the act: %w", err)
	}
	err = process.ReplaceFile(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
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
	id := audit.KeyID(k.Public)
	switch k.Subject {
	case audit.SubjectPolicy:
		return fmt.Sprintf("put this witness policy into force: %q", k.Policy)
	case audit.SubjectRetirement:
		return fmt.Sprintf("retire the %s key %s from %s on", k.Retired, base64.StdEncoding.EncodeToString(k.ID[:]),
			listed(k.From))
	case audit.SubjectAdministrator:
		return fmt.Sprintf("%s administrator %s, key %s", k.Admin, k.Name, base64.StdEncoding.EncodeToString(k.Public))
	case audit.SubjectCoDealer:
		if k.Origin == "" {
			return "let commits name no co-dealer"
		}
		return fmt.Sprintf("let commits name the co-dealer %s, key %s (every commit: %t), policy: %q", k.Origin,
			base64.StdEncoding.EncodeToString(k.Public), k.Every, k.Policy)
	case audit.SubjectTwoPersons:
		return fmt.Sprintf("ask two administrators for %v, and let an act of one wait %d s", k.Acts, k.Delay)
	}
	return fmt.Sprintf("bring the %s key %s into force", k.Subject, base64.StdEncoding.EncodeToString(id[:]))
}

// errSigned is the error for a second signature of an administrator.
var errSigned = errors.New("this administrator has already signed the act")

// sign adds a signature. Signatures are in the order of the administrators' names.
func (a *loadedAct) sign(key *keys.SigningKey) error {
	if time.Now().UnixMilli() >= a.entry.Expires {
		return fmt.Errorf("the act expired at %s: make it again", a.Expires)
	}
	signature, err := key.Signer().Sign(a.entry.Signed([32]byte(a.Genesis)))
	if err != nil {
		return err
	}
	made := audit.ActSignature{Administrator: key.Origin()}
	copy(made.Signature[:], signature)
	at, signed := slices.BinarySearchFunc(a.entry.Signatures, made.Administrator,
		func(s audit.ActSignature, name string) int { return cmp.Compare(s.Administrator, name) })
	same := func(s audit.ActSignature) bool { return s.Signature == made.Signature }
	if signed || slices.ContainsFunc(a.entry.Signatures, same) {
		return errSigned
	}
	a.entry.Signatures = slices.Insert(a.entry.Signatures, at, made)
	return nil
}
