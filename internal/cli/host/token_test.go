package host

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestWhereTheLedgerIs: a flag says where the ledger is before the environment does, there SHUFFLED_URL before
// SHUFFLED_DATABASE, and what is for a daemon is not ignored.
func TestWhereTheLedgerIs(t *testing.T) {
	t.Setenv("SHUFFLED_KEY", "env+1+A")
	const none, env, flag = "", "http://env", "http://flag"
	for _, test := range []struct{ url, database, line, want, err string }{
		{env, "", "", env, ""}, {env, "sqlite:/e.db", "", env, ""}, {none, "sqlite:/e.db", "", none, ""},
		{env, "sqlite:/e.db", "--database sqlite:/f.db", none, ""}, {env, "", "--data /d", none, ""},
		{env, "sqlite:/e.db", "--data /d", none, ""}, {env, "", "--data /d --url " + flag, flag, ""},
		{env, "", "--token-file a.token", env, ""}, {none, "", "--token-file a.token --url " + flag, flag, ""},
		{none, "", "--token-file a.token", none, "--url is missing"},
		{env, "", "--data /d --token-file a.token", none, "--url is missing"},
		{none, "", "--key main.vkey", none, "--url is missing"},
		{none, "", "--client-cert a.pem --client-key a.key", none, "--url is missing"},
	} {
		t.Setenv("SHUFFLED_URL", test.url)
		t.Setenv("SHUFFLED_DATABASE", test.database)
		var c tokenListCmd
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(strings.Fields(test.line))
		if c.URL != test.want || (err == nil) != (test.err == "") ||
			err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%+v: %q, %v", test, c.URL, err)
		}
	}
}
