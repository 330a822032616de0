package answers

import (
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/known"
	"shuffled/internal/shuffle"
)

// Every type of entry: docs/SPEC.md section 5.

// headerAndCodes parses entries with codes that are not critical and not known, and
// headers in which one name alone is reserved.
func headerAndCodes(a *known.Answers, v *vectors) {
	for _, c := range v.Entries {
		if len(c.Passed) == 0 {
			continue
		}
		e, codes, err := audit.ParseEntryCodes(c.Bytes)
		a.Values(c.Name+", passed over", codes, err, c.Passed)
		b, err := e.Encode()
		a.Bytes(c.Name+", encoded", b, err, c.Bytes.String())
	}
	for _, c := range v.Damaged {
		if c.Field == "identity" || c.Field == "credential" {
			_, err := audit.ParseEntry(c.Bytes)
			a.Refused(c.Name, err, audit.ErrMalformed)
		}
	}
}

// made is an entry written out here, and the vector that it is.
type made struct {
	vector string
	plus   int64 // to madeTime
	by     audit.Actor
	body   audit.Body
}

// entryTest parses and encodes the vectors of one type, encodes one entry that is written out below, and parses damaged
// ones. Parsing and encoding could agree with each other in a mistake; the entry that is written out would show it.
func entryTest(word string) func(*known.Answers, *vectors) {
	return func(a *known.Answers, v *vectors) {
		all := written()
		for _, c := range v.Entries {
			if !strings.HasPrefix(c.Name, word+":") {
				continue
			}
			e, err := audit.ParseEntry(c.Bytes)
			var b []byte
			if err == nil {
				a.Is(c.Name+", its type", e.Body.Type().String(), nil, word)
				b, err = e.Encode()
			}
			a.Bytes(c.Name+", parsed and encoded", b, err, c.Bytes.String())
			digest := tlog.RecordHash(b)
			a.Bytes(c.Name+", digest", digest[:], nil, c.Digest.String())
			for _, m := range all {
				if c.Name == m.vector {
					b, err = audit.Entry{Time: madeTime + m.plus, Actor: m.by, Body: m.body}.Encode()
					a.Bytes(c.Name+", written out", b, err, c.Bytes.String())
				}
			}
			_, err = audit.ParseEntry(append(slices.Clip(c.Bytes), 0))
			a.Refused(c.Name+", a byte more", err, audit.ErrMalformed)
		}
		for _, c := range v.Damaged {
			if strings.HasPrefix(c.Name, word+":") {
				_, err := audit.ParseEntry(c.Bytes)
				a.Refused(c.Name, err, map[string]error{"malformed": audit.ErrMalformed,
					"unknown": audit.ErrUnknown}[c.Want])
			}
		}
	}
}

// What the entries share. Times differ in their last digits.
const (
	madeOrigin  = "casino.example/main"
	madeTime    = 1790000000000
	madeGenesis = "8937d9c298b3884f9f33c58d1e3cfc2cb6cae86137f834e62567316701e52e3f"
	madeDeck    = "f57485ab152d21702f80d8a2038c070a4ccfdeb4837dd886f3a80a2cfd9ef81d"
)

// madeDealer is the actor of what is of shuffles.
var madeDealer = audit.Actor{Identity: "dealer-1", Credential: "token-1"}

// written are entries of every type.
func written() []made {
	sign := func(administrator, signature string) audit.ActSignature {
		return audit.ActSignature{Administrator: administrator, Signature: [64]byte(known.Unhex(signature))}
	}
	return []made{
		{"genesis: a sandbox without policy and auditors", 0, audit.Daemon, &audit.Genesis{
			Revision: audit.Revision, Origin: madeOrigin,
			SigningKey: known.Unhex("01bc0f81ea3476f0dae395585a4ad10b2075a62c4553c23f5a9ee03da57be54203"),
			Deals:      audit.DealsSigned, Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 86400,
			Access: audit.AccessPublic}},
		{"commit: a plan of every source", 26, madeDealer, &audit.Commit{
			Context: &audit.Context{Origin: madeOrigin, Genesis: known.Hash(madeGenesis), Table: "table-7",
				DeckHash: known.Hash(madeDeck),
				Recipe:   shuffle.Recipe{Cards: 52, Take: 52},
				Plan: []audit.Planned{
					{Source: audit.SourceSlot,
						Slot: known.Hash("d4f4a2aa4873403a8587835447ba583c2619e6ade0debb1c89adb221c15d8589")},
					{Source: audit.SourceSlot,
						Slot: known.Hash("3947a9a8daf023d131289b123593f2c0743a88c5fac76f8f0b8efb999ae59a06")},
					{Source: audit.SourceBeacon,
						Chain: known.Hash("0345b910f34047609442288e91db6f7676f86981deda726d2c2c1cd84aca43a5"), Round: 1},
					{Source: audit.SourceCut}},
				Disclosure: audit.DisclosurePublic},
			Commitment: known.Hash("19610dea69fcb95d2ceb7606a7499d7ebc3841ebb01cf4f050728e6006eae1c1"),
			DeckRoot:   known.Hash("a82d389562cbf3274932184c298720fe29cda6035326639382e5ce9e54a163f6"),
			Serial:     1, CloseBy: madeTime + 3_600_000,
			KeyTag:   known.Hash("0000000000007d0d5774650de4fc8a4aa50312a90ff26da0b6c9bf71441d939e"),
			Request:  known.Hash("dbc0d3188245698c498ef7ee1ae71e100fb034b54190818fab5a2ddac75c2538"),
			Instance: 1}},
		{"mix: every source", 35, madeDealer, &audit.Mix{Shuffle: 2, Checkpoint: audit.MaxInteger,
			Values: []audit.MixValue{
				{Source: audit.SourceSlot, Slot: known.Hash("b5a28ae4a230faa10511425bb6e1633d8593a93121f6ee643c7eefe0cc687fcb")},
				{Source: audit.SourceSlot, Slot: known.Hash("ce0c1dc6a90e83f8e282dff2806b2803b3a13dfc9ce6b22e487917497478d6c7")},
				{Source: audit.SourceBeacon,
					Beacon: [48]byte(known.Unhex("9e2d0cc5da957921a96c7c89266ea65ad8b71a31e0b4948c4ca2d8d7843e3463cf6bebec3ab9b9dcb0f28f8b13a6ee95"))},
				{Source: audit.SourceCut, Cut: 17}}}},
		{"deal: every purpose", 39, madeDealer, &audit.Deal{Shuffle: 2, First: 4, Checkpoint: 9,
			Runs: []audit.Run{
				{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"},
				{Count: 3, Purpose: audit.PurposeBoard, Public: true},
				{Count: 1, Purpose: audit.PurposeBurn},
				{Count: 1, Purpose: audit.PurposeDiscard, Recipient: "muck"},
				{Count: 1, Purpose: audit.PurposeRabbit, Public: true},
				{Count: 40, Purpose: audit.PurposeOrder, Recipient: "back-end", Round: 1}}}},
		{"close: void for tape_lost, without a tape", 57, madeDealer,
			&audit.Close{Shuffle: 2, Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost, Form: audit.FormNone}},
		{"key: retirement of a disclosure key", 68, audit.Operator,
			&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectDisclosure,
				ID: known.Hash("29e8fc856dc65f4ec4da0f447fae1e69987bb4c3d85969af7c00e7df202add75"), From: madeTime + 1}},
		{"event: instance_start in FIPS 140-3 mode", 77, audit.Daemon, &audit.Event{Kind: audit.EventInstanceStart,
			Build:  known.Hash("5a5d16e045c8695bcb81b68d6fdeb4169522cf2530ba5128081e0557ade5fbca"),
			Config: known.Hash("30b3777e78dcde07cd0d85cbff01634ef45f3adf7dd3347cfd4c5344a6d0aa3c"),
			FIPS:   true, Name: "v1.2.3-rc.1_x"}},
		{"takeover: to close", 106, madeDealer,
			&audit.Takeover{Shuffle: 2, Extent: audit.ExtentClose, Reason: "table 7: dealer-1 does not answer"}},
		{"reveal: a showdown, in front of the close", 150, madeDealer,
			&audit.Reveal{Shuffle: 2, Final: true, Places: []uint16{0, 3, 9, 12}}},
		{"credential: for two tables, with an expiry", 115, audit.Operator, &audit.Credential{Kind: audit.CredentialCreated,
			ID: "token-1", Form: audit.FormToken, Role: audit.RoleDealer, Identity: "dealer-1",
			Tables: []string{"table-7", "wheel-1"}, Expires: audit.MaxInteger,
			Digest: known.Hash("d0d2a2d9e4214a52170ac61891609a9420a404fbf182a7fca732bf1f026d2523")}},
		{"act: takeover", 128, audit.Operator, &audit.ActEntry{Act: audit.ActTakeover,
			Digest:   known.Hash("93c6cc7c24de53f1c972525173fe09285034cdab919f44ba755576d5b1e6464b"),
			Previous: 9, HeadSize: 20,
			HeadRoot: known.Hash("a86aa004e89e2ccfc71fbbf44c520f78b4364a49c360f315488ec15331944eb9"),
			Expires:  madeTime + 3_600_000,
			Signatures: []audit.ActSignature{
				sign("alice", "16d6dfd5ea49213a7d6150f69d34d0bcd4cebcec4851df0f072d4f4df501f325"+
					"6d6ac9ec68e3943393915da0be079ef22ae7d63d84de7e74f654ec2809b42800"),
				sign("bob", "d769dc737bbaaef0eeb46fc48b1f19a5144613bb2e6d60e8dbf142a7f7fac47c"+
					"e172ae54517bd20ee3614dd2d72fde8fa0a7f8c4afd6e460414f57964915ec08")}}},
	}
}
