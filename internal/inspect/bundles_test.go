package inspect

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/beacon"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect/inspecttest"
)

// bundleVectors are bundles, what is trusted, and what a verifier finds (docs/SPEC.md sections 14.1 to 14.3).
type bundleVectors struct {
	Format   string         `json:"format"`
	About    []string       `json:"about"`
	Contents []string       `json:"contents"`
	Cases    []bundleVector `json:"cases"`
}

type bundleVector struct {
	Name  string         `json:"name"`
	Files map[string]int `json:"files"`
	Trust bundleTrust    `json:"trust"`
	At    int64          `json:"at"`
	Want  bundleWant     `json:"want"`
}

type bundleTrust struct {
	VKey    string `json:"vkey,omitempty"`
	Policy  string `json:"policy,omitempty"`
	Since   string `json:"since,omitempty"`
	Auditor []byte `json:"auditor,omitempty"`
}

type bundleWant struct {
	Verdict string            `json:"verdict"`
	Faults  []bundleFault     `json:"faults"`
	Levels  map[string]uint64 `json:"levels"`
	Open    uint64            `json:"open"`
	Overdue uint64            `json:"overdue"`
}

type bundleFault struct {
	Code    string  `json:"code"`
	Entry   *uint64 `json:"entry,omitempty"`
	Shuffle *uint64 `json:"shuffle,omitempty"`
	Where   string  `json:"where,omitempty"`
}

const bundlesFile = "testdata/bundles.json"

var bundlesAbout = []string{
	"Bundles of fewer than 256 entries and what a verifier of a whole ledger finds, docs/SPEC.md sections 14.1 to 14.3.",
	"contents: the bytes of files, base64. cases: files, paths in the bundle, each with the place of its bytes in contents, from 0; trust, a vkey, a policy, or neither, and perhaps since, the text of an older checkpoint, and auditor, an auditor's private key, its type and 32 bytes, base64; at, the time of the report, UTC milliseconds.",
	"want: the verdict; every fault, by place (14.3), where being a file; how many shuffles have each level, are open, and overdue.",
}

// small is a ledger of few entries, whose house has an auditor where sealed.
func small(t testing.TB, sealed bool) *ledger {
	g := inspecttest.Plain()
	g.Policy, g.Deals = inspecttest.Policy(false, 2, "w1", "w2", "w3"), audit.DealsCosigned
	if sealed {
		g.AuditorKeys = [][]byte{inspecttest.Auditor().Public()}
	}
	l := &ledger{Ledger: inspecttest.New(t.TempDir(), "small", g), witnesses: []string{"w1", "w2", "w3"}}
	if sealed {
		l.Disclosure()
	}
	l.see()
	return l
}

// bundleCase is a vector in the making: codes are written by hand, and the places of faults are not.
type bundleCase struct {
	name    string
	dir     string
	trust   bundleTrust
	at      int64
	verdict string
	codes   string
}

// sealedForgeries are those of forgeries that need an auditor, forged the others that are vectors.
var (
	sealedForgeries = []string{"a sealed tape that does not open", "another tape sealed", "auditors kept out",
		"a chain for auditors, disclosed to everybody"}
	forged = []string{"honest", "a wheel of another total", "a wheel that was never published", "a place dealt twice",
		"time runs back", "two geneses", "a cosigned checkpoint made up", "acts of another history",
		"an adopted head of another history",
		"a slot in two commits",
		"one commitment for two shuffles", "one idempotency key for two shuffles", "another tape at the close",
		"a tape too short", "another tape, with its commitment", "a tape that runs out", "a tape lost",
		"a chain, disclosed", "a chain, its root's tape lost", "rotated without the old key",
		"rotated without a checkpoint", "the old key signs on", "a cosigned fork", "a cosigned fork that counts once",
		"cosigned by too few", "bytes that are no entry", "two faults in one shuffle"}
)

// bundleCases are the bundles of the vectors.
func bundleCases(t *testing.T) (cases []bundleCase) {
	key := bundleTrust{VKey: inspecttest.VKey()}
	add := func(name, dir string, trust bundleTrust, codes string) *bundleCase {
		verdict := Failed
		if codes == "" {
			verdict = Proved
		}
		cases = append(cases, bundleCase{name, dir, trust, 0, verdict, codes})
		return &cases[len(cases)-1]
	}
	for _, f := range forgeries {
		sealed := slices.Contains(sealedForgeries, f.name)
		if !sealed && !slices.Contains(forged, f.name) {
			continue
		}
		l := small(t, sealed)
		f.write(l)
		l.see()
		l.Finish()
		trust := key
		if sealed {
			seed := sha256.Sum256([]byte("inspecttest auditor"))
			trust.Auditor = append([]byte{audit.KeyHybrid}, seed[:]...)
		}
		codes := strings.ReplaceAll(strings.Join(f.want, " "), "rule_credential ", "") // nobody deals after it here
		add(f.name, l.Dir, trust, codes)
	}

	l := small(t, false)
	l.hand("t1")
	first, fork := l.Signed(), inspecttest.Sign(audit.Checkpoint{Origin: inspecttest.Origin, Size: l.Size,
		Root: [32]byte{1}}.Text(), inspecttest.Key("signing 0"))
	open := l.Commit("t2")
	l.Finish()
	honest := func(do func(b *broken)) string {
		b := &broken{t, filepath.Join(t.TempDir(), "bundle")}
		must(t, os.CopyFS(b.dir, os.DirFS(l.Dir)))
		do(b)
		return b.dir
	}
	whole := honest(func(*broken) {})
	add("an open shuffle", whole, key, "")
	add("an open shuffle that is overdue", whole, key, "").at = open.Commit.CloseBy
	add("nothing is trusted", whole, bundleTrust{}, "").verdict = Consistent
	add("another key is trusted", whole, bundleTrust{VKey: inspecttest.VKeyOf("another.example/ledger")},
		"key_not_in_force")
	add("a policy, and the level it gives", whole, bundleTrust{Policy: string(inspecttest.Policy(true, 2, "w1", "w2",
		"w3"))}, "")
	add("a policy of others", whole, bundleTrust{Policy: string(inspecttest.Policy(true, 1, "x1"))}, "quorum")
	add("an older checkpoint", whole, bundleTrust{VKey: key.VKey, Since: string(first)}, "")
	add("an older checkpoint of another history", whole, bundleTrust{VKey: key.VKey, Since: string(fork)}, "since")
	for _, d := range []struct {
		name, codes string
		do          func(b *broken)
	}{
		{"another file", "", func(b *broken) { b.write("notes.txt", []byte("x")) }},
		{"a bit of the last entries", "entry", func(b *broken) { b.flip(b.tail("tile/entries"), 1200) }},
		{"the entries missing", "file", func(b *broken) { b.remove(b.tail("tile/entries")) }},
		{"a bit of a tile", "tile", func(b *broken) { b.flip(b.tail("tile/0"), 99) }},
		{"a tile missing", "file", func(b *broken) { b.remove(b.tail("tile/0")) }},
		{"an empty checkpoint", "checkpoint", func(b *broken) { b.cut("checkpoint", 0) }},
		{"a checkpoint of another root", "signature", func(b *broken) {
			b.editLine("checkpoint", 2, base64.StdEncoding.EncodeToString(make([]byte, 32)))
		}},
		{"a signature line twice", "checkpoint", func(b *broken) {
			b.add("checkpoint", strings.SplitAfter(string(b.read("checkpoint")), "\n\n")[1])
		}},
		{"a signature line with stray bits", "checkpoint", func(b *broken) {
			text := b.read("checkpoint") // 68 bytes in base64 end in two bits that are 0, and =
			text[len(text)-3]++
			b.write("checkpoint", text)
		}},
		{"a checkpoint in a list out of order", "checkpoint", func(b *broken) {
			b.sizeNote(b.tail("cosigned"), 1, "1")
		}},
		{"a list goes on, and nobody signed", "checkpoint_size cosigned_missing cosigned_missing", func(b *broken) {
			b.sizeNote(b.tail("cosigned"), 1, "100")
		}},
		{"a checkpoint of another ledger", "origin signature", func(b *broken) {
			c, err := audit.CheckpointText(b.read("checkpoint"))
			must(b.t, err)
			c.Origin = "another.example/ledger"
			b.write("checkpoint", inspecttest.Sign(c.Text(), inspecttest.Key("signing 0")))
		}},
		{"a checkpoint of 2^40 entries", "entries_missing" + strings.Repeat(" file", 32), func(b *broken) {
			c, err := audit.CheckpointText(b.read("checkpoint"))
			must(b.t, err)
			c.Size = 1 << 40
			b.write("checkpoint", inspecttest.Sign(c.Text(), inspecttest.Key("signing 0")))
		}},
		{"a manifest with spaces", "manifest", func(b *broken) { b.edit("manifest.json", `,`, `, `) }},
		{"a manifest missing", "file", func(b *broken) { b.remove("manifest.json") }},
		{"an empty deck", "deck", func(b *broken) { b.cut(b.deck(), 0) }},
	} {
		add(d.name, honest(d.do), key, d.codes)
	}

	m1, m2 := inspecttest.NewLongKey(inspecttest.Origin, "long 1"), inspecttest.NewLongKey(inspecttest.Origin, "long 2")
	logs := func(vkeys ...string) bundleTrust {
		return bundleTrust{Policy: "log " + strings.Join(vkeys, "\nlog ") + "\nquorum none\n"}
	}
	also := honest(func(b *broken) {
		c, err := audit.CheckpointText(b.read("checkpoint"))
		must(b.t, err)
		b.write("checkpoint", m1.Sign(inspecttest.Sign(c.Text(), inspecttest.Key("signing 0"),
			inspecttest.Key("signing 1")), c.Text()))
	})
	add("keys that never entered signed the newest checkpoint", also, key, "")
	add("one of ML-DSA-44 that signed the newest checkpoint and never entered trusted", also,
		logs(key.VKey, m1.VKey()), "key_not_in_force")
	never := inspecttest.New(t.TempDir(), "small", inspecttest.Plain())
	never.Rotate() // to the key that signed in also, and never entered there
	add("one that signed the newest checkpoint and never entered trusted", also, bundleTrust{VKey: never.VKey()},
		"key_not_in_force")
	long := func(do func(l *ledger)) *ledger {
		l := small(t, false)
		l.hand("t1")
		l.RotateLong(m1, false)
		do(l)
		l.Finish()
		return l
	}
	l = long(func(l *ledger) { l.see(); l.hand("t1"); l.RotateLong(m2, true); l.hand("t1") })
	other := inspecttest.NewLongKey("other.example/ledger", "long 1").VKey()
	add("ML-DSA-44 as well", l.Dir, key, "")
	add("ML-DSA-44 as well, both keys trusted", l.Dir, logs(key.VKey, m1.VKey()), "")
	add("ML-DSA-44 as well, another key of it trusted", l.Dir,
		logs(key.VKey, inspecttest.NewLongKey(inspecttest.Origin, "long 3").VKey()), "key_not_in_force")
	add("ML-DSA-44 as well, and a key of it of another ledger trusted", l.Dir, logs(key.VKey, other), "")
	add("Ed25519 alone, and a key of ML-DSA-44 of another ledger trusted", whole, logs(key.VKey, other), "")
	add("ML-DSA-44 left out of the newest checkpoint", honest(func(b *broken) { b.strip("checkpoint", 0) }), key,
		"signature")
	add("ML-DSA-44 left out of a cosigned checkpoint", honest(func(b *broken) { b.strip(b.tail("cosigned"), 3) }), key,
		"signature")
	add("ML-DSA-44 left out at its key's entry, and a cosigned checkpoint of that size has it",
		honest(func(b *broken) { b.strip(b.tail("signed"), 0) }), key, "signature")
	add("ML-DSA-44 left out at its second key's entry", honest(func(b *broken) { b.strip(b.tail("signed"), 1) }), key,
		"rotation")
	l = long(func(l *ledger) { l.hand("t1"); l.RotateLong(m2, false); l.hand("t1") })
	add("ML-DSA-44 handed on without the key before", l.Dir, key, "rotation")
	l = long(func(*ledger) {})
	add("ML-DSA-44 left out at its key's entry, and the newest checkpoint has it",
		honest(func(b *broken) { b.strip(b.tail("signed"), 0) }), key, "signature")

	l = small(t, false)
	l.hand("t1")
	l.Rotate()
	l.hand("t1")
	l.RotateLong(m1, false)
	l.hand("t1")
	l.RotateLong(m2, true)
	l.Rotate()
	l.hand("t1")
	l.Finish()
	third := inspecttest.NewLongKey(inspecttest.Origin, "long 3").VKey()
	add("the first key and one of ML-DSA-44 from after its replacement trusted", l.Dir, logs(key.VKey, m1.VKey()), "")
	add("the first key and the second one of ML-DSA-44 trusted", l.Dir, logs(key.VKey, m2.VKey()), "")
	add("the newest key and one of ML-DSA-44 that was replaced before it trusted", l.Dir, logs(l.VKey(), m1.VKey()), "")
	add("the first key and one of ML-DSA-44 that never signed trusted", l.Dir, logs(key.VKey, third), "key_not_in_force")
	l.Rotate() // after it was written: a key of Ed25519 that signed nothing in it
	add("one of ML-DSA-44 and one of Ed25519 that never signed trusted", l.Dir, logs(l.VKey(), m1.VKey()),
		"key_not_in_force")

	l = small(t, false)
	l.hand("t1")
	l.RotateSigned(func(old, next ed25519.PrivateKey) []byte { return m1.Sign(l.Signed(old, next), l.Text()) })
	l.hand("t1")
	l.Finish()
	handed := honest(func(*broken) {})
	add("one of ML-DSA-44 that signed where a key was handed on and never entered trusted", handed,
		logs(key.VKey, m1.VKey()), "key_not_in_force")
	add("ML-DSA-44 that never entered signed where a key was handed on", handed, key, "")
	l.RotateLong(m1, false)
	l.Finish()
	add("one of ML-DSA-44 that signed where a key was handed on and entered last trusted", l.Dir,
		logs(key.VKey, m1.VKey()), "")

	l = small(t, false)
	for i := range 2 {
		l.Start()
		l.fork(byte(i))
	}
	l.Start()
	l.see()
	l.Finish()
	add("two cosigned checkpoints of another history, and one of this", l.Dir, key, "root")
	add("a cosigned checkpoint of too large a size", honest(func(b *broken) { b.sizeNote(b.tail("cosigned"), 0, "5") }),
		key, "checkpoint root")

	l = small(t, false)
	lost := int(l.Size)
	l.Rotate()
	l.hand("t1")
	since := bundleTrust{VKey: key.VKey, Since: string(l.Signed())}
	l.Rotate()
	l.Finish()
	add("the entry of a signing key lost, below that of the next one and an older checkpoint", honest(func(b *broken) {
		b.flipEntry(b.tail("tile/entries"), lost)
	}), since, "entry")
	add("two cosigned checkpoints exchanged", honest(func(b *broken) { b.swap(b.tail("cosigned")) }), key, "checkpoint")

	l = small(t, false)
	l.AppendLost([]byte{2, 1, 0})
	l.hand("t1")
	l.Finish()
	add("an entry of a later version", l.Dir, key, "").verdict = CannotJudge

	g := inspecttest.Plain()
	g.Predecessor = []byte("no checkpoint")
	later := inspecttest.New(t.TempDir(), "small", g)
	later.Finish()
	add("a predecessor that is no checkpoint", later.Dir, key, "predecessor")

	for _, codes := range []string{"", "beacon"} {
		out := beacon.TimeOf(inspecttest.Round.Round) * 1000
		g := inspecttest.Plain()
		g.Policy = inspecttest.Policy(false, 2, "w1", "w2", "w3")
		l := inspecttest.NewAt(t.TempDir(), "small", g, out-60_000)
		s := l.Commit("t1", inspecttest.Quicknet)
		l.Now = out - 1000
		l.Cosigned("w1", "w3")
		l.Now, s.Light = out, beacontest.Signature(inspecttest.Round.Round)
		if codes != "" {
			s.Light = beacontest.Signature(inspecttest.Round.Round - 1)
		}
		s.Mix(0)
		s.Last(1, 0)
		l.Cosigned("w1", "w2")
		l.Finish()
		name := map[string]string{"": "mixed by a beacon", "beacon": "mixed by the beacon of another round"}[codes]
		add(name, l.Dir, bundleTrust{Policy: string(inspecttest.Policy(true, 2, "w1", "w2", "w3"))}, codes)
	}
	return cases
}

// makeBundles makes the vectors.
func makeBundles(t *testing.T) (v bundleVectors) {
	v.Format, v.About = "shuffled/v1/vectors/bundles", bundlesAbout
	place := make(map[string]int)
	for _, c := range bundleCases(t) {
		made := bundleVector{Name: c.name, Files: make(map[string]int), Trust: c.trust, At: c.at}
		must(t, fs.WalkDir(os.DirFS(c.dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(c.dir, name))
			text := base64.StdEncoding.EncodeToString(data)
			if _, ok := place[text]; !ok {
				place[text] = len(v.Contents)
				v.Contents = append(v.Contents, text)
			}
			made.Files[name] = place[text]
			return err
		}))
		if made.At == 0 {
			made.At = inspecttest.Start + 10_000
		}
		made.Want = made.judge(t, v.Contents)
		var codes []string
		for _, f := range made.Want.Faults {
			codes = append(codes, f.Code)
		}
		slices.Sort(codes)
		if got := strings.Join(codes, " "); c.codes != "" && got != c.codes || made.Want.Verdict != c.verdict {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, made.Want.Verdict, got, c.verdict, c.codes)
		}
		v.Cases = append(v.Cases, made)
	}
	return v
}

// judge is what an audit of the bundle finds.
func (c *bundleVector) judge(t *testing.T, contents []string) (got bundleWant) {
	t.Helper()
	dir := t.TempDir()
	for name, place := range c.Files {
		data, err := base64.StdEncoding.DecodeString(contents[place])
		must(t, err)
		(&broken{t, dir}).write(name, data)
	}
	opts := Options{VKey: c.Trust.VKey, At: c.At}
	if c.Trust.Policy != "" {
		opts.Policy = []byte(c.Trust.Policy)
	}
	if c.Trust.Since != "" {
		opts.Since = []byte(c.Trust.Since)
	}
	if c.Trust.Auditor != nil {
		a, err := disclosure.NewAuditor(c.Trust.Auditor)
		must(t, err)
		opts.Auditors = append(opts.Auditors, a)
	}
	r := inspectDir(t, dir, opts)
	got = bundleWant{Verdict: r.Verdict, Faults: []bundleFault{}, Levels: r.Totals.Levels, Open: r.Totals.Open,
		Overdue: r.Totals.Overdue}
	for _, f := range r.Faults {
		where, _, _ := strings.Cut(f.Where, ", number ") // of a list's file
		if strings.Contains(where, " ") {
			where = "" // words
		}
		got.Faults = append(got.Faults, bundleFault{f.Code, f.Entry, f.Shuffle, where})
	}
	return got
}

// TestBundleVectors: an audit finds what the vectors say, of each bundle. With SHUFFLED_WRITE_TESTDATA it writes them.
func TestBundleVectors(t *testing.T) {
	if os.Getenv("SHUFFLED_WRITE_TESTDATA") == "" {
		t.Parallel()
	} else {
		cryptotest.SetGlobalRandom(t, 1) // of what is sealed, so that the same bundles are written each time
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		must(t, e.Encode(makeBundles(t)))
		must(t, os.WriteFile(bundlesFile, b.Bytes(), 0o644))
	}
	data, err := os.ReadFile(bundlesFile)
	must(t, err)
	var v bundleVectors
	must(t, json.Unmarshal(data, &v))
	found := make(map[string]bool)
	for _, c := range v.Cases {
		if diff := cmp.Diff(c.Want, c.judge(t, v.Contents)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.Name, diff)
		}
		for _, f := range c.Want.Faults {
			found[f.Code] = true
		}
		for level := range c.Want.Levels {
			found[level] = true
		}
		found[c.Want.Verdict] = true
	}
	text, err := os.ReadFile("../../docs/SPEC.md")
	must(t, err)
	_, table, _ := strings.Cut(string(text), "\n### 14.3 Faults")
	table, _, _ = strings.Cut(table, "\n### 14.4")
	codes := regexp.MustCompile("(?m)^\\| (`.*?) \\| ").FindAllStringSubmatch(table, -1)
	if len(codes) < 30 {
		t.Fatalf("%d codes in docs/SPEC.md", len(codes))
	}
	for _, row := range codes {
		for _, code := range regexp.MustCompile(`[a-z_]+`).FindAllString(row[1], -1) {
			if !found[code] && code != "access_chain" && code != "code" { // of a database; the head of the table
				t.Errorf("no vector has the fault %s", code)
			}
		}
	}
	for _, word := range []string{Proved, Consistent, Failed, CannotJudge, LevelKeyNotPinned, LevelRecorded,
		LevelWitnessed, LevelMixed} {
		if !found[word] {
			t.Errorf("no vector has %s", word)
		}
	}
}
