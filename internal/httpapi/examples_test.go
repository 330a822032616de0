package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"shuffled/internal/audit/openings"
	"shuffled/internal/verify"
)

// TestExamples holds each example of a request or an answer against its schema. A success
// that is answered in JSON has an example.
func TestExamples(t *testing.T) {
	t.Parallel()
	doc, held := loadContract(t), 0
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil {
				for _, media := range op.RequestBody.Value.Content {
					held += checkExamples(t, op.OperationID+", request", media)
				}
			}
			for status, answer := range op.Responses.Map() {
				at := op.OperationID + ", " + status
				for kind, media := range answer.Value.Content {
					held += checkExamples(t, at, media)
					if kind == "application/json" && status[0] == '2' && len(media.Examples) == 0 {
						t.Errorf("%s: the answer has no example", at)
					}
				}
			}
		}
	}
	if held < 100 {
		t.Errorf("%d examples", held)
	}
}

// checkExamples returns the number of the examples that it held against their schema.
func checkExamples(t *testing.T, at string, media *openapi3.MediaType) int {
	t.Helper()
	for name, e := range media.Examples {
		v := decodeAny(t, exampleJSON(t, e))
		if err := media.Schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
			t.Errorf("%s, %s: %v", at, name, err)
		}
	}
	return len(media.Examples)
}

func exampleJSON(t *testing.T, e *openapi3.ExampleRef) []byte {
	t.Helper()
	b, err := json.Marshal(e.Value.Value)
	must(t, err)
	return b
}

// TestTranscriptExample has the daemon judge the example of a transcript. The verdict is the
// example of a verdict, and the example of a receipt is the transcript's.
func TestTranscriptExample(t *testing.T) {
	t.Parallel()
	paths := loadContract(t).Paths
	success := func(op *openapi3.Operation, kind, name string) []byte {
		return exampleJSON(t, op.Responses.Value("200").Value.Content[kind].Examples[name])
	}
	var file openings.Transcript
	if err := json.Unmarshal(success(paths.Find("/v1/{ledger}/shuffles/{id}/transcript").Get,
		"application/json", "closed"), &file); err != nil {
		t.Fatal(err)
	}
	b, err := file.Marshal()
	must(t, err)
	s, judge := newStack(t, stackOptions{}), paths.Find("/v1/verify").Post
	for name, body := range map[string][]byte{"consistent": b, "failed": []byte("neither")} {
		got := s.do(ask{method: "POST", path: "/v1/verify", body: body}).body
		want := success(judge, "application/json", name)
		if !reflect.DeepEqual(decodeAny(t, got), decodeAny(t, want)) {
			t.Errorf("%s is judged\n%s\nand in the example\n%s", name, got, want)
		}
	}
	receipt := success(paths.Find("/v1/{ledger}/entries/{index}/receipt").Get, "text/plain", "commit")
	if got := decodeAny(t, receipt); got != file.Receipt(1) {
		t.Errorf("the receipt is not the transcript's: %s", got)
	}
}

// TestTermsInEvidence: the contract has all that a transcript with terms and its verdict say.
func TestTermsInEvidence(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	kept := read[KeptTerms](t, s.do(ask{method: "PUT", path: "/v1/main/terms", token: s.dealerToken,
		body: `{"kind":"wheel","labels":[{"label":"nothing","weight":35},{"label":"a car","weight":2}]}`}))
	body, err := json.Marshal(map[string]any{"table": "a", "ranges": []int{37}, "terms": kept})
	must(t, err)
	path := fmt.Sprintf("/v1/main/shuffles/%d", read[Shuffle](t, s.post("/v1/main/draws", "k", string(body))).ID)
	s.post(path+"/deal", "", `{"first":0,"runs":[{"count":1,"purpose":"board","public":true}],
		"close":{"outcome":"completed"}}`)
	file := s.get(path+"/transcript", "").body
	got := s.do(ask{method: "POST", path: "/v1/verify", body: file}).body
	if !strings.Contains(string(file), `"terms"`) || !strings.Contains(string(got), `"labels"`) {
		t.Errorf("no terms in\n%s\nor\n%s", file, got)
	}
}

// TestEvidenceIsTheContracts: the contract has the members of a transcript and of a verdict,
// which other packages write, and no more.
func TestEvidenceIsTheContracts(t *testing.T) {
	t.Parallel()
	schemas := loadContract(t).Components.Schemas
	checkMembers(t, "Transcript", schemas["Transcript"].Value, reflect.TypeFor[openings.Transcript]())
	checkMembers(t, "Verdict", schemas["Verdict"].Value, reflect.TypeFor[verify.Verdict]())
}

func checkMembers(t *testing.T, at string, schema *openapi3.Schema, of reflect.Type) {
	t.Helper()
	for schema.Items != nil {
		schema = schema.Items.Value
	}
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	seen := 0
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		if schema.Properties[name] == nil {
			t.Errorf("%s has no member %s", at, name)
			continue
		}
		seen++
		checkMembers(t, at+"."+name, schema.Properties[name].Value, field.Type)
	}
	if seen != len(schema.Properties) {
		t.Errorf("%s has %d members more", at, len(schema.Properties)-seen)
	}
}
