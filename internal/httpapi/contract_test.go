package httpapi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

func TestContractIsValid(t *testing.T) {
	t.Parallel()
	doc := loadContract(t)
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("version %s", doc.OpenAPI)
	}
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
	ids := make(map[string]bool)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s: operation %q", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
	if len(ids) < 29 {
		t.Fatalf("%d operations", len(ids))
	}
}

// TestContractDescribesEverything asks for words on every member, and for a
// range on every number and an end on every string that callers send.
func TestContractDescribesEverything(t *testing.T) {
	t.Parallel()
	doc := loadContract(t)
	seen := 0
	for name, ref := range doc.Components.Schemas {
		for member, p := range ref.Value.Properties {
			seen++
			at := name + "." + member
			if p.Value.Description == "" {
				t.Errorf("%s is not described", at)
			}
			if p.Value.Type.Is("integer") && p.Value.Min == nil {
				t.Errorf("%s has no range", at)
			}
			if strings.HasSuffix(name, "Request") && p.Value.Type.Is("string") && p.Value.MaxLength == nil &&
				p.Value.Enum == nil && p.Value.Pattern == "" {
				t.Errorf("%s has no end", at)
			}
		}
		if ref.Value.Type.Is("object") && ref.Value.AdditionalProperties.Has == nil {
			t.Errorf("%s does not say whether it may have more members", name)
		}
	}
	if seen < 250 {
		t.Fatalf("%d members", seen)
	}
}

// TestContractLimits: the contract has room for the longest policies and receipts.
func TestContractLimits(t *testing.T) {
	t.Parallel()
	doc := loadContract(t)
	schema := func(name string) *openapi3.Schema { return doc.Components.Schemas[name].Value }
	for name, of := range map[string]struct {
		s    *openapi3.Schema
		most int
	}{
		"a policy in a list": {schema("Key").Properties["policy"].Value, audit.MaxPolicy},
		"a receipt":          {schema("Receipt"), audit.MaxEntry/3*4 + audit.MaxProof*45 + audit.MaxCheckpoint + 256},
	} {
		if of.s.MaxLength == nil || *of.s.MaxLength != uint64(of.most) {
			t.Errorf("%s has %d characters at most, and not what the contract says", name, of.most)
		}
	}
}

// TestRoutes holds the generated routes against the contract.
func TestRoutes(t *testing.T) {
	t.Parallel()
	doc := loadContract(t)
	all, listed := routes(nil), 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if slices.Contains(op.Tags, "operator") {
				continue
			}
			var roles []string
			for _, requirement := range security(doc, op) {
				roles = append(roles, requirement["token"]...)
			}
			scope, _ := op.Extensions["x-scope"].(string)
			if !slices.ContainsFunc(all, func(r route) bool {
				return r.method == method && r.path == path && r.scope == scope && slices.Equal(r.roles, roles)
			}) {
				t.Errorf("no route for %s %s with roles %q and scope %q", method, path, roles, scope)
			}
			for _, role := range roles {
				if audit.ParseRole(role) == 0 {
					t.Errorf("%s %s is for %q", method, path, role)
				}
			}
			if method == http.MethodPost && path != "/v1/verify" && len(roles) == 0 {
				t.Errorf("%s %s is for everybody", method, path)
			}
			listed++
		}
	}
	if listed < 26 || listed != len(all) {
		t.Errorf("%d routes, %d in the contract", len(all), listed)
	}
}

// security is what an operation asks for: its own, or the document's.
func security(doc *openapi3.T, op *openapi3.Operation) openapi3.SecurityRequirements {
	if op.Security != nil {
		return *op.Security
	}
	return doc.Security
}

// TestProblemsAreTheContracts holds the table of errors, which is made from the contract,
// against the enumeration of codes.
func TestProblemsAreTheContracts(t *testing.T) {
	t.Parallel()
	enum := loadContract(t).Components.Schemas["Code"].Value.Enum
	for _, v := range enum {
		k, ok := problems[Code(v.(string))]
		if !ok || k.Title == "" || strings.HasSuffix(k.Title, ".") {
			t.Errorf("%s: %+v", v, k)
		}
		checkSentences(t, k.Cause)
		checkSentences(t, k.Cure)
		if k.Retry && k.Status != 429 && k.Status != 503 {
			t.Errorf("%s asks for another try with status %d", v, k.Status)
		}
	}
	if len(enum) != len(problems) || len(enum) < 50 {
		t.Errorf("%d codes, %d in the table", len(enum), len(problems))
	}
}

// internalRules are those that a request cannot break, whatever it says.
var internalRules = []string{
	audit.RuleGenesisFirst, audit.RuleTime, audit.RuleOrigin, audit.RuleInstance,
	audit.RuleSerial, audit.RuleForm, audit.RuleEntries,
}

// TestEveryRuleHasACode reads the rules from the source of package audit.
func TestEveryRuleHasACode(t *testing.T) {
	t.Parallel()
	rules := 0
	for name, v := range constants(t, "../audit", "Rule") {
		rules++
		_, public := codeOf(v)
		if public == slices.Contains(internalRules, v) {
			t.Errorf("%s (%q) stands in both lists or in none", name, v)
		}
		got := translate(http.MethodPost, fmt.Errorf("wrapped: %w", &audit.Illegal{Code: v, Detail: "d"}))
		want := Code(v)
		if other, ok := others[v]; ok {
			want = other
		}
		if public && got.code != want || !public && got.code != CodeInternal {
			t.Errorf("%s becomes %s", v, got.code)
		}
	}
	if rules < 30 {
		t.Fatalf("%d rules", rules)
	}
}

// TestEverySentinelHasACode reads the errors from the sources of the packages whose errors the API meets.
func TestEverySentinelHasACode(t *testing.T) {
	t.Parallel()
	// Those never leave the packages below, or say that something is wrong here.
	inside := map[string]bool{"ErrExists": true, "ErrStale": true,
		"ErrUnconfirmed": true, "ErrLatched": true, "ErrKilled": true, "ErrMoved": true}
	known := map[string]error{
		"dealer/api.ErrKeyReused": api.ErrKeyReused, "dealer/api.ErrRepeated": api.ErrRepeated,
		"dealer/api.ErrNotFound":    api.ErrNotFound,
		"dealer/api.ErrBeaconEarly": api.ErrBeaconEarly, "dealer/api.ErrEntropy": api.ErrEntropy,
		"dealer/api.ErrSealed": api.ErrSealed,
		"ledger.ErrFrozen":     ledger.ErrFrozen, "ledger.ErrClock": ledger.ErrClock,
		"ledger.ErrOverloaded": ledger.ErrOverloaded,
		"ledger.ErrClosed":     ledger.ErrClosed, "ledger.ErrUnavailable": ledger.ErrUnavailable,
		"ledger.ErrNotFound": ledger.ErrNotFound, "ledger.ErrUnknownOutcome": ledger.ErrUnknownOutcome,
		"ledger.ErrNotWitnessed": ledger.ErrNotWitnessed, "ledger.ErrNoKey": ledger.ErrNoKey,
		"ledger.ErrPolicy": ledger.ErrPolicy, "ledger.ErrTooLarge": ledger.ErrTooLarge,
		"dealer.ErrTogether": dealer.ErrTogether, "dealer/api.ErrCoDealer": api.ErrCoDealer,
		"dealer/api.ErrCoDealerForked": api.ErrCoDealerForked, "dealer.ErrDeck": dealer.ErrDeck,
		"dealer.ErrStatement": dealer.ErrStatement, "ledger.ErrBehind": ledger.ErrBehind,
	}
	found := 0
	for _, pkg := range []string{"dealer", "dealer/api", "dealer/record", "dealer/blind", "dealer/batch", "ledger",
		"ledger/sequencer", "ledger/cosign"} {
		for name := range declared(t, "../"+pkg, "Err") {
			if inside[name] {
				continue
			}
			found++
			err, ok := known[pkg+"."+name]
			if !ok {
				t.Errorf("%s.%s has no code", pkg, name)
				continue
			}
			if got := translate(http.MethodPost, fmt.Errorf("wrapped: %w", err)); got.code == CodeInternal {
				t.Errorf("%s.%s is internal", pkg, name)
			}
		}
	}
	if found < 10 {
		t.Fatalf("%d sentinels", found)
	}
}

// declared returns the package-level names of a directory that begin with the prefix, with their values.
func declared(t *testing.T, dir, prefix string) map[string]ast.Expr {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	found := make(map[string]ast.Expr)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		must(t, err)
		f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
		must(t, err)
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, prefix) &&
					len(v.Values) == 1 {
					found[v.Names[0].Name] = v.Values[0]
				}
			}
		}
	}
	return found
}

func constants(t *testing.T, dir, prefix string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for name, v := range declared(t, dir, prefix) {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s, err := strconv.Unquote(lit.Value)
			must(t, err)
			found[name] = s
		}
	}
	return found
}
