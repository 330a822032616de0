package main

import (
	"os"
	"path/filepath"
	"strings"
)

// afterwards types what other chapters do with a house that is installed: acts, audits with the
// witness, retention, and what follows a lost token, a lost mark and a lost tail.
func (i *installation) afterwards() {
	i.t.Helper()
	const run, keys, audit, backup = "docs/operations/run.md", "docs/operations/keys.md", "docs/AUDIT.md",
		"docs/operations/backup.md"
	i.env = append(i.env, "SHUFFLED_URL="+i.url)
	i.replaces("https://shuffle.example.com", i.url, "https://witness.example.org", "http://"+i.at,
		"postgres://shuffled_reader@db/main", i.replace.Replace("postgres://postgres@db.example.com/shuffled"),
		"postgres://shuffled_reader@db/shuffled", i.replace.Replace("postgres://postgres@db.example.com/shuffled"),
		"/srv/mirror", filepath.Join(i.work, "mirror"))
	i.must(i.replace.Replace(`
cp /etc/shuffled/*.token /etc/shuffled/main.vkey /etc/shuffled/witnesses.policy . && cp witnesses.policy our.policy
mkdir last-audit && curl -s "$SHUFFLED_URL/log/main/checkpoint" > last-audit/checkpoint
shuffled token create --url "$SHUFFLED_URL" --token-file admin.token --key main.vkey --role dealer \
  --identity rescue > rescue.token
chmod 0600 rescue.token
sed 's/^group .*/group one 1 w1/; s/^quorum .*/quorum one/' witnesses.policy > new.policy`))
	hand := func(table string) string {
		return strings.TrimSpace(i.must("shuffled shuffle --table " + table +
			" --deck standard-52 --token-file dealer.token --key main.vkey --quiet"))
	}
	if said := i.block(run, "shuffled act do takeover", "41", hand("table-2")); !strings.Contains(said, "rescue") {
		i.t.Errorf("%s", said)
	}
	i.block(keys, "shuffled act do policy")
	i.must("shuffled kill set --deck short-36 --reason misprinted --token-file admin.token --key main.vkey\n" +
		"shuffled kill set --table poker-7 --reason 'camera fault' --token-file admin.token --key main.vkey")
	said := i.block(run, "shuffled act do kill_clear")
	if !strings.Contains(said, "It is done: clear the kill switch of") {
		i.t.Errorf("%s", said)
	}
	const again = "--key main.vkey\nshuffled act do kill_clear"
	said = i.block(keys, "shuffled act do kill_clear", again, strings.Replace(again, "\n", "\n! ", 1))
	if !strings.Contains(said, "The act waits for 1h0m0s") || !strings.Contains(said, "again at ") {
		i.t.Errorf("%s", said)
	}
	i.block(audit, "curl -s https://w1.regulator.example.org")
	if said := i.block(audit, "shuffled audit fsck"); !strings.Contains(said, "PROVED") {
		i.t.Errorf("%s", said)
	}
	i.block("docs/operations/load.md", "shuffled audit export")
	i.must("test -s mirror/log/main/checkpoint")
	i.must("sed -i '1i access_retention = \"1h\"' " + filepath.Join(i.dir, "owner/owner.toml"))
	if said := i.block(run, "shuffled retention run"); !strings.Contains(said, "kept for 1h") {
		i.t.Errorf("%s", said)
	}
	i.daemon.stop()
	lost, _, _ := strings.Cut(i.must("cat admin.token"), ".")
	if said := i.block(keys, "shuffled token list", "tok_7h3k2m5n6p4q2r3s", lost); !strings.Contains(said,
		"It is done: create the admin's credential") {
		i.t.Errorf("%s", said)
	}
	if err := os.Remove(filepath.Join(i.data, "main.mark")); err != nil { // the witness vouches for the head
		i.t.Fatal(err)
	}
	i.daemon.dir = i.work
	i.launch("http://"+i.operator, i.arguments(i.replace.Replace("shuffled serve --config /etc/shuffled/shuffled.toml")))
	i.must("shuffled table open table-3 --token-file admin-2.token --key main.vkey")
	i.daemon.stop()
	if said := i.block(backup, "curl -s https://witness.example.org"); !strings.Contains(said, "main-2") {
		i.t.Errorf("%s", said)
	}
}
