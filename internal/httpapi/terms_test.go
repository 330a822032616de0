package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"shuffled/internal/terms"
)

// TestTermsPerDay: an identity stores so many bytes of new documents in a day, with all its tokens together. Others
// are not counted, nor is what is stored already.
func TestTermsPerDay(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	put := func(token string, number int) answer {
		text := fmt.Sprint(number) + strings.Repeat("x", terms.MaxDocument-100)
		return s.do(ask{method: http.MethodPut, path: "/v1/main/terms", token: token,
			body: `{"kind":"pay_table","text":"` + text + `"}`})
	}
	s.api.termsBytes.spend(tokenKey{s.ledger.ID(), s.house().Identity}, termsPerDay-3*terms.MaxDocument, s.clock.Now())
	stored := 0
	for ; stored < 10; stored++ {
		if got := put(s.dealerToken, stored); got.status != http.StatusOK {
			got.want(t, CodeRateLimited, "")
			if said := value(got.problem(t).Detail); !strings.Contains(said, "16 MiB of new documents of terms") {
				t.Errorf("the refusal says %q", said)
			}
			break
		}
	}
	if stored < 3 || stored > 4 { // a document is a little smaller than the largest
		t.Errorf("%d documents were stored", stored)
	}
	put(s.tableToken, stored).want(t, CodeRateLimited, "") // another token of the identity
	for name, got := range map[string]answer{"again": put(s.dealerToken, 0), "of another": put(s.otherToken, -1)} {
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, got.status, cut(got.body))
		}
	}
	s.clock.add(24 * time.Hour)
	if got := put(s.dealerToken, stored); got.status != http.StatusOK {
		t.Errorf("a day later: %d %s", got.status, cut(got.body))
	}
}
