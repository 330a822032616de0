package selftest

import (
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Every type of entry: docs/SPEC.md section 5.
var entries = []test{
	entryTest("genesis", "5.1", genesisEntry),
	entryTest("commit", "5.2, 5.3", commitEntry),
	entryTest("mix", "5.4", mixEntry),
	entryTest("deal", "5.5", dealEntry),
	entryTest("close", "5.6", closeEntry),
	entryTest("key", "5.7", keyEntry),
	entryTest("event", "5.8", eventEntry),
}

// made is an entry written out here, and the vector that it is.
type made struct {
	vector string
	entry  audit.Entry
}

// entryTest parses and encodes the vectors of one type, encodes one entry that is
// written out below, and parses damaged ones. Parsing and encoding could agree
// with each other in a mistake; the entry that is written out would show it.
func entryTest(word, section string, written func() made) test {
	run := func(a *answers, v *vectors) {
		m := written()
		for _, c := range v.Entries {
			if !strings.HasPrefix(c.Name, word+":") {
				continue
			}
			e, err := audit.ParseEntry(unhex(c.Bytes))
			var b []byte
			if err == nil {
				a.is(c.Name+", its type", e.Body.Type().String(), nil, word)
				b, err = e.Encode()
			}
			a.bytes(c.Name+", parsed and encoded", b, err, c.Bytes)
			a.is(c.Name+", digest", digestOf(b), nil, c.Digest)
			if c.Name == m.vector {
				b, err = m.entry.Encode()
				a.bytes(c.Name+", written out", b, err, c.Bytes)
			}
			_, err = audit.ParseEntry(append(unhex(c.Bytes), 0))
			a.refused(c.Name+", a byte more", err, audit.ErrMalformed)
		}
		for _, c := range v.Damaged {
			if strings.HasPrefix(c.Name, word+":") {
				_, err := audit.ParseEntry(unhex(c.Bytes))
				a.refused(c.Name, err, map[string]error{"malformed": audit.ErrMalformed, "unknown": audit.ErrUnknown}[c.Want])
			}
		}
	}
	return test{"entry-" + word, "encoding and digest: " + word, "SPEC " + section, "internal/audit/testdata/entries.json", run}
}

// What the entries share. Times differ in their last digits.
const (
	madeOrigin = "casino.example/main"
	madeTime   = 1790000000000
	madeDeck   = "f57485ab152d21702f80d8a2038c070a4ccfdeb4837dd886f3a80a2cfd9ef81d"
)

func madeEntry(vector string, plus int64, by audit.Actor, b audit.Body) made {
	return made{vector, audit.Entry{Time: madeTime + plus, Actor: by, Body: b}}
}

// madeDealer caused the entries of shuffles.
var madeDealer = audit.Actor{Identity: "dealer-1", Credential: "token-1"}

func genesisEntry() made {
	return madeEntry("genesis: a sandbox without policy and auditors", 0, audit.Daemon, &audit.Genesis{
		Revision: audit.Revision, Origin: madeOrigin, SigningKey: unhex("01bc0f81ea3476f0dae395585a4ad10b2075a62c4553c23f5a9ee03da57be54203"),
		Deals: audit.DealsSigned, Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 86400, Access: audit.AccessPublic})
}

func commitEntry() made {
	return madeEntry("commit: a plan of every source", 26, madeDealer, &audit.Commit{
		Context: &audit.Context{Origin: madeOrigin, Table: "table-7", DeckHash: hash32(madeDeck), Recipe: shuffle.Recipe{Cards: 52, Take: 52},
			Plan: []audit.Planned{
				{Source: audit.SourceSlot, Slot: hash32("d4f4a2aa4873403a8587835447ba583c2619e6ade0debb1c89adb221c15d8589")},
				{Source: audit.SourceSlot, Slot: hash32("3947a9a8daf023d131289b123593f2c0743a88c5fac76f8f0b8efb999ae59a06")},
				{Source: audit.SourceBeacon, Chain: hash32("0345b910f34047609442288e91db6f7676f86981deda726d2c2c1cd84aca43a5"), Round: 1},
				{Source: audit.SourceCut}},
			Disclosure: audit.DisclosurePublic},
		Commitment: hash32("19610dea69fcb95d2ceb7606a7499d7ebc3841ebb01cf4f050728e6006eae1c1"),
		DeckRoot:   hash32("a82d389562cbf3274932184c298720fe29cda6035326639382e5ce9e54a163f6"),
		Serial:     1, CloseBy: madeTime + 3_600_000,
		KeyTag:   hash32("0000000000007d0d5774650de4fc8a4aa50312a90ff26da0b6c9bf71441d939e"),
		Request:  hash32("dbc0d3188245698c498ef7ee1ae71e100fb034b54190818fab5a2ddac75c2538"),
		Instance: 1})
}

func mixEntry() made {
	return madeEntry("mix: every source", 35, madeDealer, &audit.Mix{Shuffle: 2, Cosigned: audit.MaxInteger, Values: []audit.MixValue{
		{Source: audit.SourceSlot, Slot: hash32("b5a28ae4a230faa10511425bb6e1633d8593a93121f6ee643c7eefe0cc687fcb")},
		{Source: audit.SourceSlot, Slot: hash32("ce0c1dc6a90e83f8e282dff2806b2803b3a13dfc9ce6b22e487917497478d6c7")},
		{Source: audit.SourceBeacon, Beacon: [48]byte(unhex("9e2d0cc5da957921a96c7c89266ea65ad8b71a31e0b4948c4ca2d8d7843e3463cf6bebec3ab9b9dcb0f28f8b13a6ee95"))},
		{Source: audit.SourceCut, Cut: 17}}})
}

func dealEntry() made {
	return madeEntry("deal: every purpose", 39, madeDealer, &audit.Deal{Shuffle: 2, First: 4, Cosigned: 9, Runs: []audit.Run{
		{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"},
		{Count: 3, Purpose: audit.PurposeBoard, Public: true},
		{Count: 1, Purpose: audit.PurposeBurn},
		{Count: 1, Purpose: audit.PurposeDiscard, Recipient: "muck"},
		{Count: 1, Purpose: audit.PurposeRabbit, Public: true},
		{Count: 40, Purpose: audit.PurposeOrder, Recipient: "back-end"}}})
}

func closeEntry() made {
	return madeEntry("close: void for tape_lost, without a tape", 57, madeDealer, &audit.Close{Shuffle: 2, Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost, Form: audit.FormNone})
}

func keyEntry() made {
	return madeEntry("key: retirement of a disclosure key", 68, audit.Operator, &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectDisclosure,
		ID: hash32("29e8fc856dc65f4ec4da0f447fae1e69987bb4c3d85969af7c00e7df202add75"), From: madeTime + 1})
}

func eventEntry() made {
	return madeEntry("event: instance_start in FIPS 140-3 mode", 77, audit.Daemon, &audit.Event{Kind: audit.EventInstanceStart,
		Build:  hash32("5a5d16e045c8695bcb81b68d6fdeb4169522cf2530ba5128081e0557ade5fbca"),
		Config: hash32("30b3777e78dcde07cd0d85cbff01634ef45f3adf7dd3347cfd4c5344a6d0aa3c"),
		FIPS:   true, Name: "v1.2.3-rc.1_x"})
}
