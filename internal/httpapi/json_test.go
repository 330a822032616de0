package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	library "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"shuffled/internal/dealer/api"
)

// jsonCases are whole bodies for a close, good and bad, after the manner of the JSON parsing test suites: what is good
// by RFC 8259 and by the contract, what is bad by the contract, what is bad by RFC 8259.
var jsonCases = []struct {
	body string
	code Code // "" is good
}{
	{`{"outcome":"completed"}`, ""},
	{` { "outcome" : "completed" } `, ""},
	{"\t\r\n{\"outcome\"\n:\r\"completed\"}\n", ""},
	{`{"outcome":"void","reason":"misdeal"}`, ""},
	{`{"reason":"misdeal","outcome":"void"}`, ""},
	{`{"outcome":"\u0063ompleted"}`, ""},
	{`{"\u006futcome":"completed"}`, ""},
	{`{"outcome":"\u0063\u006F\u006d\u0070\u006C\u0065\u0074\u0065\u0064"}`, ""},
	{`{"outcome":"ended_early"}`, ""},

	{`{}`, ""}, // the dealer asks for the outcome
	{`{"outcome":""}`, CodeInvalidValue},
	{`{"outcome":"completed "}`, CodeInvalidValue},
	{`{"outcome":"Completed"}`, CodeInvalidValue},
	{`{"outcome":"\u0441ompleted"}`, CodeInvalidValue}, // a Cyrillic letter
	{`{"outcome":"comple\u0000ted"}`, CodeInvalidValue},
	{`{"outcome":"\/"}`, CodeInvalidValue},
	{`{"outcome":"\ud83c\udcA1"}`, CodeInvalidValue}, // an ace, paired surrogates
	{`{"outcome":"🂡"}`, CodeInvalidValue},
	{`{"outcome":"\uFFFD"}`, CodeInvalidValue},
	{`{"outcome":"` + strings.Repeat("a", 100_000) + `"}`, CodeInvalidValue},
	{`{"outcome":null}`, CodeInvalidValue},
	{`{"outcome":true}`, CodeInvalidValue},
	{`{"outcome":0}`, CodeInvalidValue},
	{`{"outcome":-0.0e-0}`, CodeInvalidValue},
	{`{"outcome":[]}`, CodeInvalidValue},
	{`{"outcome":{}}`, CodeInvalidValue},
	{`{"outcome":["completed"]}`, CodeInvalidValue},
	{`{"outcome":{"outcome":"completed"}}`, CodeInvalidValue},
	{`{"outcome":"void","reason":null}`, CodeInvalidValue},
	{`{"outcome":"completed","reason":[]}`, CodeInvalidValue},
	{`{"Outcome":"completed"}`, CodeUnknownMember},
	{`{"outcome ":"completed"}`, CodeUnknownMember},
	{`{"outcome":"completed","":""}`, CodeUnknownMember},
	{`{"outcome":"completed","outcom\u0065 ":1}`, CodeUnknownMember},
	{`{"outcome":"completed","tape":"AAAA"}`, CodeUnknownMember},
	{`{"outcome":"completed","x":{"y":[{"z":null}]}}`, CodeUnknownMember},
	{`{"outcome":"completed","outcome":"completed"}`, CodeDuplicateMember},
	{`{"outcome":"completed","\u006futcome":"void"}`, CodeDuplicateMember},
	{`{"outcome":"void","reason":"misdeal","reason":"regulator"}`, CodeDuplicateMember},

	{`{"outcome":"completed"`, CodeInvalidJSON},
	{`{"outcome":"completed`, CodeInvalidJSON},
	{`{"outcome":`, CodeInvalidJSON},
	{`{"outcome"`, CodeInvalidJSON},
	{`{"outcome" "completed"}`, CodeInvalidJSON},
	{`{"outcome"::"completed"}`, CodeInvalidJSON},
	{`{"outcome":"completed",}`, CodeInvalidJSON},
	{`{,"outcome":"completed"}`, CodeInvalidJSON},
	{`{"outcome":"completed" "reason":"x"}`, CodeInvalidJSON},
	{`{"outcome":"completed";"reason":"x"}`, CodeInvalidJSON},
	{`{outcome:"completed"}`, CodeInvalidJSON},
	{`{'outcome':'completed'}`, CodeInvalidJSON},
	{`{"outcome":completed}`, CodeInvalidJSON},
	{`{"outcome":"completed"}}`, CodeInvalidJSON},
	{`{"outcome":"completed"]`, CodeInvalidJSON},
	{`{"outcome":"completed"}{}`, CodeInvalidJSON},
	{`{"outcome":"completed"} null`, CodeInvalidJSON},
	{`{"outcome":"completed"}/**/`, CodeInvalidJSON},
	{`/**/{"outcome":"completed"}`, CodeInvalidJSON},
	{`{"outcome":"completed"}#`, CodeInvalidJSON},
	{"\ufeff{\"outcome\":\"completed\"}", CodeInvalidJSON},
	{"\u00a0{\"outcome\":\"completed\"}", CodeInvalidJSON},
	{"\x0c{\"outcome\":\"completed\"}", CodeInvalidJSON},
	{"{\"outcome\":\"comp\nleted\"}", CodeInvalidJSON},
	{"{\"outcome\":\"comp\x00leted\"}", CodeInvalidJSON},
	{"{\"outcome\":\"comp\x7fleted\"}", CodeInvalidValue}, // DEL is allowed in strings
	{"{\"outcome\":\"\xff\"}", CodeInvalidJSON},
	{"{\"outcome\":\"\xc0\xaf\"}", CodeInvalidJSON},         // overlong
	{"{\"outcome\":\"\xed\xa0\x80\"}", CodeInvalidJSON},     // a surrogate in UTF-8
	{"{\"outcome\":\"\xf4\x90\x80\x80\"}", CodeInvalidJSON}, // above U+10FFFF
	{"{\"outcome\":\"\xe2\x82\"}", CodeInvalidJSON},         // cut short
	{`{"outcome":"\ud800"}`, CodeInvalidJSON},               // lone surrogates
	{`{"outcome":"\udc00\ud800"}`, CodeInvalidJSON},
	{`{"outcome":"\x41"}`, CodeInvalidJSON},
	{`{"outcome":"\u00"}`, CodeInvalidJSON},
	{`{"outcome":"\'"}`, CodeInvalidJSON},
	{`{"outcome":"\`, CodeInvalidJSON},
	{`{"outcome":01}`, CodeInvalidValue},
	{`{"outcome":.5}`, CodeInvalidJSON},
	{`{"outcome":1.}`, CodeInvalidJSON},
	{`{"outcome":1e}`, CodeInvalidJSON},
	{`{"outcome":+1}`, CodeInvalidJSON},
	{`{"outcome":-}`, CodeInvalidJSON},
	{`{"outcome":NaN}`, CodeInvalidJSON},
	{`{"outcome":-Infinity}`, CodeInvalidJSON},
	{`{"outcome":0x1}`, CodeInvalidValue},
	{`{"outcome":True}`, CodeInvalidJSON},
	{`{"outcome":nul}`, CodeInvalidJSON},
	{`{"outcome":"completed"` + "\x1e", CodeInvalidJSON},
	{`""`, CodeInvalidValue},
	{`"`, CodeInvalidJSON},
	{`]`, CodeInvalidJSON},
	{`}`, CodeInvalidJSON},
	{`{{"outcome":"completed"}:1}`, CodeInvalidJSON},
	{`{null:"completed"}`, CodeInvalidJSON},
	{`{1:"completed"}`, CodeInvalidJSON},
	{strings.Repeat(`{"outcome":`, 20_000), CodeInvalidJSON}, // too deep
	{`{"outcome":` + strings.Repeat("[", 1<<19), CodeInvalidJSON},
}

func TestJSON(t *testing.T) {
	t.Parallel()
	good, bad := 0, 0
	for _, c := range jsonCases {
		var req CloseRequest
		err := decodeBytes([]byte(c.body), &req, dealerJSON)
		var got Code
		var r *refusal
		if errors.As(err, &r) {
			got = r.code
		}
		if got != c.code || (err == nil) != (c.code == "") {
			t.Errorf("%.60q: %v, not %q", c.body, err, c.code)
		}
		if c.code == "" {
			good++
		} else {
			bad++
		}
		// What is accepted here is JSON for the standard library too.
		if c.code == "" && !json.Valid([]byte(c.body)) {
			t.Errorf("%q is not JSON", c.body)
		}
	}
	if good < 5 || bad < 60 {
		t.Fatalf("%d good and %d bad bodies", good, bad)
	}
}

// FuzzDecode holds the decoder against the standard library's and against its own rules: what it takes is valid JSON,
// says the same to a lenient reader, has no null, and has every member once.
func FuzzDecode(f *testing.F) {
	for _, c := range jsonCases {
		f.Add([]byte(c.body))
	}
	for _, post := range posts("/p") {
		f.Add([]byte(post.good))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, v := range []any{new(ShuffleRequest), new(DealRequest), new(CloseRequest)} {
			if decodeBytes(body, v) != nil {
				continue
			}
			if !json.Valid(body) || bytes.Contains(body, []byte("null")) && hasNull(body) {
				t.Fatalf("%q was taken as %T", body, v)
			}
			if _, isShuffle := v.(*ShuffleRequest); isShuffle {
				continue // its times and places are no plain values
			}
			lenient := reflect.New(reflect.TypeOf(v).Elem()).Interface()
			if err := json.Unmarshal(body, lenient); err != nil || !reflect.DeepEqual(v, lenient) {
				t.Fatalf("%q is %+v, and %+v to a lenient reader (%v)", body, v, lenient, err)
			}
		}
	})
}

func hasNull(body []byte) bool {
	for dec := jsontext.NewDecoder(bytes.NewReader(body)); ; {
		token, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if token.Kind() == 'n' {
			return true
		}
	}
}

func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{"2026-03-14T15:09:26.535Z", "2026-03-14T15:09:26Z", "2026-03-14t15:09:26Z",
		"9999-12-31T23:59:59.999Z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var at Timestamp
		if at.UnmarshalText([]byte(s)) != nil {
			return
		}
		back, err := at.MarshalText()
		if err != nil || at < 0 || strings.TrimSuffix(strings.TrimSuffix(string(back), "Z"),
			".000") != strings.TrimSuffix(strings.TrimSuffix(s, "Z"), ".000") {
			t.Fatalf("%q is %q", s, back)
		}
	})
}

// TestAppendAnswer: answers are what the library writes of them.
func TestAppendAnswer(t *testing.T) {
	t.Parallel()
	for _, as := range []func(*rapid.T){asLibrary[api.Shuffle], asLibrary[api.Mix], asLibrary[api.Deal],
		asLibrary[api.Reveal], asLibrary[api.Close], asLibrary[api.Status], asLibrary[api.Recorded]} {
		rapid.Check(t, as)
	}
}

func asLibrary[T any](t *rapid.T) {
	answer := rapid.OneOf(rapid.Make[T](), rapid.Just(*new(T))).Draw(t, "answer")
	want, err := library.Marshal(answer)
	if got := appendAnswer(nil, reflect.ValueOf(answer)); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s, %v, not %s", got, err, want)
	}
}
