package kit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"
)

// NoteName is the signature over the manifest, a C2SP signed note.
const NoteName = "manifest.note"

// noteText is what is signed: the digest, in the form of sha256sum.
func noteText(dir string) (string, error) {
	sum, _, err := digestFile(filepath.Join(dir, ManifestName))
	return "shuffled lab kit\n" + sum + "  " + ManifestName + "\n", err
}

// Sign signs the manifest of the kit in dir.
func Sign(dir string, signer note.Signer) error {
	text, err := noteText(dir)
	if err != nil {
		return err
	}
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, NoteName), signed, 0o644)
}

// CheckNote returns what is wrong with the signature over the manifest; "" if nothing is.
func CheckNote(dir string, verifier note.Verifier) (fault string, err error) {
	text, err := noteText(dir)
	if err != nil {
		return "", err
	}
	signed, err := os.ReadFile(filepath.Join(dir, NoteName))
	if errors.Is(err, os.ErrNotExist) {
		return NoteName + " is missing: nobody signed this kit", nil
	} else if err != nil {
		return "", err
	}
	n, err := note.Open(signed, note.VerifierList(verifier))
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", NoteName, err), nil
	case n.Text != text:
		return NoteName + " is of another manifest", nil
	}
	return "", nil
}
