package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/near"
)

// sentences are the words of a problem: they stand without its other members. A rule of a
// field comes with the value that was sent, everything else with the cure of its code.
func (e *refusal) sentences() string {
	if e.rule == "" {
		return strings.TrimSpace(whole(e.detail) + " " + problems[e.code].Cure)
	}
	said := whole(named(e.field) + " " + e.rule)
	text, words := e.sent, shown(e.sent, "text")
	if text == "" {
		text, words = valueAt(e.body, e.field)
	}
	if words != "" {
		said += " The value sent is " + words + "."
	}
	return said + near.Hint(text, e.words)
}

// whole makes a sentence of s, "" of "".
func whole(s string) string {
	if s == "" {
		return ""
	}
	if s = strings.ToUpper(s[:1]) + s[1:]; strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// mostShown is how many characters of a value, or of a member's name, an answer repeats. A
// token, and what a player drew for a slot, are longer.
const mostShown = 40

// named is how a sentence names a field.
func named(field string) string {
	switch {
	case field == "":
		return "The body"
	case len(field) > mostShown:
		return "A member of the body"
	}
	return `"` + clip(field, mostShown) + `"`
}

// shown is a value in quotes, or what is said of one that is too long.
func shown(value, kind string) string {
	if len(value) > mostShown {
		return fmt.Sprintf("a %s of %d characters", kind, len(value))
	}
	return `"` + clip(value, mostShown) + `"`
}

// valueAt is what a body, which may be malformed behind it, has for a field: the text that
// it is, and words for it, "" for none.
func valueAt(body []byte, field string) (text, words string) {
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return "", ""
		}
		parent, n := dec.StackIndex(dec.StackDepth())
		if parent == '{' && n%2 == 1 || fieldName(dec.StackPointer()) != field {
			continue // a name, or another value
		}
		switch token.Kind() {
		case '"':
			return token.String(), shown(token.String(), "text")
		case '{':
			return "", "an object"
		case '[':
			for n = 0; dec.PeekKind() != ']' && dec.SkipValue() == nil; {
				n++
			}
			return "", fmt.Sprintf("a list of %d", n)
		}
		return "", strings.Trim(shown(token.String(), "number"), `"`)
	}
}

// kindWords are the types of values, of which every other one is a number.
var kindWords = map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false",
	reflect.Slice: "a list", reflect.Struct: "an object"}

// wanted is the rule that a value of another type breaks.
func wanted(t reflect.Type) string {
	switch {
	case t == nil:
		return string(errWrongType)
	case t.Kind() == reflect.Pointer:
		return wanted(t.Elem())
	case t == reflect.TypeFor[[]byte]():
		return "must be bytes in padded base64"
	}
	return "must be " + cmp.Or(kindWords[t.Kind()], "a whole number")
}

// unknownMember says which member there is in place of the one that was sent.
func unknownMember(field string, e *json.SemanticError) error {
	var members []string
	for _, f := range reflect.VisibleFields(e.GoType) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		members = append(members, name)
	}
	name := e.JSONPointer.LastToken()
	hint := near.Hint(name, members)
	if hint == "" {
		hint = " The members are " + strings.Join(members, ", ") + "."
	}
	return &refusal{code: CodeUnknownMember, field: field, detail: named(field) + " is no member here." + hint}
}
