package audit_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"

	"shuffled/internal/audit"
)

// A second reader of entries, from the tables of docs/SPEC.md sections 1 and 5.
// It says whether bytes are an entry, and nothing else.

var errRefRefused = errors.New("refused")

// refReads says whether bytes are an entry, and returns the codes that it passed over.
func refReads(entry []byte) (ok bool, passed []audit.Code) {
	defer func() {
		if v := recover(); v == errRefRefused {
			ok, passed = false, nil
		} else if v != nil {
			panic(v)
		}
	}()
	r := &refReader{b: entry}
	r.must(len(entry) <= 48_000)
	r.code(1)
	body := r.open("entry", 12)
	r.integer()
	identity, credential := r.name(), r.name()
	for _, word := range []string{"daemon", "operator"} {
		r.must((identity == word) == (credential == word))
	}
	if body >= 128 {
		r.opaque()
	} else {
		[]func(){1: r.genesis, 2: r.commit, 3: r.mix, 4: r.deal, 5: r.close, 6: r.key, 7: r.event,
			8: r.takeover, 9: r.credential, 10: r.act,
			11: r.reveal, 12: r.disclosure}[body]()
	}
	r.must(len(r.b) == 0)
	return true, r.passed
}

var (
	refName   = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\z`)
	refOrigin = regexp.MustCompile(`\A[a-z0-9]([a-z0-9./_-]{0,126}[a-z0-9])?\z`)
	refReason = regexp.MustCompile(`\A[ -~]{1,200}\z`)
	refPolicy = regexp.MustCompile(`\A[\n -~]*\z`)
	refKernel = regexp.MustCompile(`\A[!-~]{0,64}\z`)
	refEmpty  = regexp.MustCompile(`\A\z`)
)

type refReader struct {
	b      []byte
	passed []audit.Code
}

func (r *refReader) must(ok bool) {
	if !ok {
		panic(errRefRefused)
	}
}

func (r *refReader) take(n int) []byte {
	r.must(n <= len(r.b))
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *refReader) num(width int) (n uint64) {
	for _, b := range r.take(width) {
		n = n<<8 | uint64(b)
	}
	return n
}

func (r *refReader) integer() uint64 {
	n := r.num(8)
	r.must(n <= 1<<53-1)
	return n
}

func (r *refReader) code(last uint64) uint64 {
	n := r.num(1)
	r.must(n >= 1 && n <= last)
	return n
}

// open reads a code of an open list, whose known codes are 1 to last and others.
func (r *refReader) open(list string, last uint64, others ...uint64) uint64 {
	n := r.num(1)
	if slices.Contains(others, n) {
		return n
	}
	if n >= 128 {
		r.passed = append(r.passed, audit.Code{List: list, Number: uint8(n)})
		return n
	}
	r.must(n >= 1 && n <= last)
	return n
}

// opaque is the rest behind a code that is not known.
func (r *refReader) opaque() {
	r.must(len(r.b) <= 1024)
	r.b = nil
}

func (r *refReader) extensions(list string) {
	last := uint64(0)
	known := map[string][]func(*refReader){
		"context_extension": {(*refReader).terms, (*refReader).forLedger},
		"commit_extension":  {func(r *refReader) { r.take(32) }},
		"deal_extension":    {(*refReader).asked, (*refReader).blind},
		"close_extension":   {(*refReader).blind, (*refReader).follows},
	}[list]
	for range r.num(1) {
		code := r.open(list, uint64(len(known)))
		r.must(code > last)
		last = code
		if code >= 128 {
			r.blob16(0, 1024)
			continue
		}
		value := &refReader{b: r.blob16(0, 65_535)}
		known[code-1](value)
		r.must(len(value.b) == 0)
	}
}

// terms reads the whole extension of a context.
func (r *refReader) terms() {
	if r.code(3) == 3 {
		r.integer()
	}
	r.take(32)
}

func (r *refReader) forLedger() { r.matches(refOrigin, r.str8()) }

func (r *refReader) foreign() {
	r.integer()
	r.take(32)
}

func (r *refReader) follows() {
	r.foreign()
	r.take(2)
}

func (r *refReader) asked() {
	r.foreign()
	r.take(32)
	r.foreign()
	r.take(32 + 64)
}

func (r *refReader) blind() {
	index, leaf := r.integer(), r.take(32)
	r.foreign()
	n := r.num(2)
	r.must(n <= 64)
	r.take(4 * int(n))
	r.must(index > 0 || n == 0 && string(leaf) == string(make([]byte, 32)))
}

func (r *refReader) name() string {
	b := r.str8()
	r.matches(refName, b)
	return string(b)
}

// ascends holds a name against the one before.
func (r *refReader) ascends(last *string, name string, first bool) {
	r.must(first || *last < name)
	*last = name
}

func (r *refReader) flag() bool {
	n := r.num(1)
	r.must(n <= 1)
	return n == 1
}

func (r *refReader) str8() []byte { return r.take(int(r.num(1))) }

func (r *refReader) blob16(lo, hi int) []byte {
	b := r.take(int(r.num(2)))
	r.must(len(b) >= lo && len(b) <= hi)
	return b
}

func (r *refReader) matches(grammar *regexp.Regexp, b []byte) { r.must(grammar.Match(b)) }

func (r *refReader) begins(b []byte, with ...byte) { r.must(bytes.HasPrefix(b, with)) }

func (r *refReader) optionalName() {
	if b := r.str8(); !refEmpty.Match(b) {
		r.matches(refName, b)
	}
}

// sealing is a key of P-256, or one of ML-KEM-768 in front of a point.
func (r *refReader) sealing() []byte {
	key := r.blob16(66, 1250)
	switch r.begins(key[:1], key[0]); key[0] {
	case 1:
		r.must(len(key) == 66 && key[1] == 4)
	case 2:
		r.must(len(key) == 1250 && key[1185] == 4)
	default:
		r.must(false)
	}
	return key
}

func (r *refReader) genesis() {
	r.must(r.num(2) == 1)
	r.matches(refOrigin, r.str8())
	r.flag()
	r.begins(r.blob16(33, 33), 1)
	policy := r.blob16(0, 32_768)
	r.matches(refPolicy, policy)
	var auditors []string
	for range r.num(1) {
		auditors = append(auditors, string(r.sealing()))
	}
	r.must(len(auditors) <= 8)
	slices.Sort(auditors)
	r.must(len(slices.Compact(slices.Clone(auditors))) == len(auditors))
	r.must(r.code(2) == 1 || len(policy) > 0)
	r.must(r.num(1) < 16)
	r.code(2)
	first := r.num(4)
	last := r.num(4)
	r.must(1 <= first && first <= last)
	r.code(2)
	r.blob16(0, 16_384)
	var keys []string
	name, count := "", r.num(1)
	r.must(count <= 16)
	for i := range count {
		r.ascends(&name, r.name(), i == 0)
		key := r.blob16(33, 33)
		r.begins(key, 1)
		r.must(!slices.Contains(keys, string(key)))
		keys = append(keys, string(key))
	}
	r.acts()
	r.extensions("genesis_extension")
}

func (r *refReader) acts() {
	last := uint64(0)
	for range r.num(1) {
		act := r.code(13)
		r.must(act > last)
		last = act
	}
	r.num(4)
}

func (r *refReader) reveal() {
	r.integer()
	r.flag()
	r.flag()
	last, count := uint64(0), r.num(2)
	r.must(1 <= count && count <= 4096)
	for i := range count {
		place := r.num(2)
		r.must(place <= 4095 && (i == 0 || last < place))
		last = place
	}
	r.extensions("reveal_extension")
}

func (r *refReader) takeover() {
	r.integer()
	r.code(2)
	r.matches(refReason, r.str8())
}

func (r *refReader) credential() {
	kind := r.code(2)
	r.name()
	if kind == 2 {
		r.matches(refReason, r.str8())
		return
	}
	r.code(2)
	r.code(5)
	r.name()
	last, count := "", r.num(2)
	r.must(count <= 256)
	for i := range count {
		r.ascends(&last, r.name(), i == 0)
	}
	r.integer()
	r.take(32)
}

func (r *refReader) act() {
	r.code(13)
	r.take(32)
	r.integer()
	r.integer()
	r.take(32)
	r.integer()
	last, count := "", r.num(1)
	r.must(count == 1 || count == 2)
	for i := range count {
		r.ascends(&last, r.name(), i == 0)
		r.take(64)
	}
}

// context reads one structure of its own: its length ends with it.
func (r *refReader) context() {
	in := &refReader{b: r.blob16(0, 65_535)}
	in.matches(refOrigin, in.str8())
	in.take(32)
	in.flag()
	in.matches(refName, in.str8())
	in.code(1)
	var n, m uint64
	kind := in.code(3)
	cards := kind == 1
	switch kind {
	case 1:
		in.take(32)
		n = in.num(2)
		m = in.num(2)
		in.must(2 <= n && n <= 4096 && 1 <= m && m <= n)
	case 2:
		count := in.num(2)
		in.must(1 <= count && count <= 4096)
		for range count {
			k := in.num(4)
			in.must(1 <= k && k <= 1<<30)
		}
	case 3:
		of := in.num(4)
		take := in.num(2)
		in.must(2 <= of && of <= 1<<30 && 1 <= take && take <= 4096 && take <= of)
	}
	in.parent(cards, n)
	in.plan(cards)
	switch form := in.num(1); form {
	case 0:
	case 1:
		place := in.num(2)
		in.must(1 <= place && place <= m)
	case 2:
		lo := in.num(2)
		hi := in.num(2)
		in.must(1 <= lo && lo < hi && hi <= m)
	default:
		in.must(false)
	}
	in.code(2)
	in.extensions("context_extension")
	r.must(len(in.b) == 0)
	r.passed = append(r.passed, in.passed...)
}

func (r *refReader) parent(cards bool, n uint64) {
	if !r.flag() {
		return
	}
	r.must(cards)
	r.integer()
	seen := make(map[uint64]bool)
	count := r.num(2)
	for range count {
		seen[r.num(2)] = true
	}
	r.must(count == n && uint64(len(seen)) == count)
}

// plan: at most one co-dealer, then slots, at most one beacon, at most one cut.
func (r *refReader) plan(cards bool) {
	count, shape := r.num(1), ""
	slots := make(map[string]bool)
	r.must(count <= 32)
	for range count {
		switch source := r.code(4); source {
		case 1:
			shape += "s"
			slots[string(r.take(32))] = true
		case 2:
			shape += "b"
			r.take(32)
			r.must(r.integer() >= 1)
		case 3:
			shape += "c"
			r.must(cards)
		case 4:
			shape += "d"
			r.code(1)
			r.matches(refOrigin, r.str8())
			r.foreign()
		}
	}
	r.must(regexp.MustCompile(`\Ad?s*b?c?\z`).MatchString(shape))
	r.must(len(slots) == len(regexp.MustCompile(`s`).FindAllString(shape, -1)))
}

func (r *refReader) commit() {
	r.context()
	r.take(32)
	r.take(32)
	serial := r.integer()
	previous := r.integer()
	r.must(serial >= 1 && (serial == 1) == (previous == 0))
	r.integer()
	r.optionalName()
	r.take(32)
	r.take(32)
	r.integer()
	r.extensions("commit_extension")
}

func (r *refReader) mix() {
	r.integer()
	r.integer()
	count := r.num(1)
	r.must(1 <= count && count <= 32)
	for range count {
		r.take([]int{1: 32, 2: 48, 3: 2}[r.code(3)])
	}
}

func (r *refReader) deal() {
	r.integer()
	end := r.num(2)
	r.integer()
	r.flag()
	count := r.num(2)
	r.must(1 <= count && count <= 512)
	for range count {
		cards := r.num(2)
		r.must(cards >= 1)
		end += cards
		r.open("purpose", 6)
		r.optionalName()
		r.flag()
		r.num(2)
	}
	r.must(end <= 4096)
	r.extensions("deal_extension")
}

func (r *refReader) close() {
	r.integer()
	r.num(2)
	outcome := r.code(5)
	var reason uint64
	if outcome == 4 {
		reason = r.open("reason", 11)
	} else {
		r.must(r.num(1) == 0)
	}
	form := r.tape()
	r.must((form == 0) == (reason == 10 || outcome == 3))
	r.extensions("close_extension")
}

func (r *refReader) tape() (form uint64) {
	form = r.num(1)
	r.must(form <= 2)
	if form == 2 {
		r.integer()
	}
	if form > 0 {
		r.blob16(1, map[uint64]int{1: 32_768, 2: 33_937}[form])
	}
	return form
}

func (r *refReader) disclosure() {
	r.integer()
	r.num(2)
	r.tape()
	r.extensions("disclosure_extension")
}

func (r *refReader) key() {
	switch r.code(8) {
	case 8:
		if r.flag() {
			r.flag()
			r.matches(refOrigin, r.str8())
			r.begins(r.blob16(33, 33), 1)
			r.matches(refPolicy, r.blob16(0, 8192))
		}
	case 1:
		key := r.blob16(33, 1313)
		r.must(key[0] == 1 && len(key) == 33 || key[0] == 6 && len(key) == 1313)
	case 6:
		change := r.code(3)
		r.name()
		if change != 2 {
			r.begins(r.blob16(33, 33), 1)
		}
	case 7:
		r.acts()
	case 3:
		r.sealing()
	case 2:
		key := r.sealing()
		size := map[byte]int{1: 113, 2: 1201}[key[0]]
		count, last := r.num(1), ""
		r.must(1 <= count && count <= 32)
		for i := range count {
			id := string(r.take(32))
			r.must(i == 0 || last < id)
			last = id
			r.blob16(size, size)
		}
	case 4:
		r.matches(refPolicy, r.blob16(0, 32_768))
	case 5:
		r.code(3)
		r.take(32)
		r.integer()
	}
}

func (r *refReader) event() {
	switch r.open("event", 8, 10, 129, 130) {
	default:
		r.opaque()
	case 1:
		r.take(64)
		r.flag()
		r.matches(refName, r.str8())
		r.matches(refKernel, r.str8())
		r.must(r.num(1) <= 2)
	case 2, 3:
		r.matches(refName, r.str8())
	case 4, 5:
		switch r.code(3) {
		case 2:
			r.matches(refName, r.str8())
		case 3:
			r.take(32)
		}
		r.matches(refReason, r.str8())
	case 6:
		r.open("latch", 11)
		r.integer()
	case 7:
		r.matches(refReason, r.str8())
	case 8:
		r.integer()
		r.take(32)
	case 10:
		r.integer()
		r.take(32)
		if size, root := r.integer(), r.take(32); size == 0 {
			r.must(bytes.Equal(root, make([]byte, 32)))
		}
		r.matches(refReason, r.str8())
	case 129:
		r.open("alarm", 0, 129, 130, 131, 132, 133)
		r.matches(refReason, r.str8())
	case 130:
		r.integer()
		r.take(32)
	}
}
