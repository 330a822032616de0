package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/dealer/api"
	"shuffled/internal/near"
)

// sentences are the text of a problem, which is complete without the other members. A rule
// of a field is followed by the value that was sent, any other text by the cure of the code.
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

// mostShown is how many bytes of a value, or of a member's name, an answer repeats. A token
// and a player's value for a slot are longer.
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

// shown is a value in quotes, or its length if it is too long.
func shown(value, kind string) string {
	if len(value) > mostShown {
		return fmt.Sprintf("a %s of %d characters", kind, len(value))
	}
	return `"` + clip(value, mostShown) + `"`
}

// valueAt returns the value of a field in a body, which may be malformed after it: the text
// if it is one, and words for it, "" if the body has no such field.
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
			whole, err := jsontext.NewDecoder(bytes.NewReader(body[dec.InputOffset()-1:])).ReadValue()
			if err == nil && len(whole) <= mostShown {
				return "", string(whole)
			}
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

// kindWords are words for the types of values; every other type is a number.
var kindWords = map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false",
	reflect.Slice: "a list", reflect.Struct: "an object"}

// wanted is the rule for values of type t.
func wanted(t reflect.Type) string {
	switch {
	case t == nil:
		return string(errWrongType)
	case t.Kind() == reflect.Pointer:
		return wanted(t.Elem())
	case t == reflect.TypeFor[[]byte]():
		return "must be bytes in padded base64"
	case t == reflect.TypeFor[Timestamp]():
		return string(api.NoTime)
	}
	return "must be " + cmp.Or(kindWords[t.Kind()], "a whole number")
}

// unknownMember refuses a member that an object does not have, and names the nearest one.
func unknownMember(field string, e *json.SemanticError) error {
	var members []string
	for _, m := range membersOf(e.GoType) {
		members = append(members, strings.Trim(m.name, `":`))
	}
	name := e.JSONPointer.LastToken()
	hint := near.Hint(name, members)
	if hint == "" {
		hint = " The members are " + strings.Join(members, ", ") + "."
	}
	return &refusal{code: CodeUnknownMember, field: field, detail: named(field) + " is no member here." + hint}
}
