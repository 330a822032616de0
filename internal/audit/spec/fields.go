package audit

import "shuffled/internal/known"

// Entries by their fields, as the data files show them.

// hexed is a byte string, lower-case hex in the data files.
type hexed = known.Bytes

// refEntry is an entry by its fields. Codes are numbers as in the tables; a
// member that is absent in the data files is 0, false or empty.
type refEntry struct {
	Time       uint64       `json:"time"`
	Identity   string       `json:"identity"`
	Credential string       `json:"credential"` // of the header
	Genesis    *refGenesis  `json:"genesis,omitempty"`
	Commit     *refCommit   `json:"commit,omitempty"`
	Mix        *refMix      `json:"mix,omitempty"`
	Deal       *refDeal     `json:"deal,omitempty"`
	Close      *refClose    `json:"close,omitempty"`
	Key        *refKey      `json:"key,omitempty"`
	Event      *refEvent    `json:"event,omitempty"`
	Takeover   *refTakeover `json:"takeover,omitempty"`
	Holder     *refHolder   `json:"credential_entry,omitempty"`
	Act        *refAct      `json:"act,omitempty"`
	Reveal     *refReveal   `json:"reveal,omitempty"`
	Disclose   *refDisclose `json:"disclosure,omitempty"`
	Opaque     *refOpaque   `json:"opaque,omitempty"` // of a type that is not known
}

type refExtension struct {
	Code  uint8 `json:"code"`
	Value hexed `json:"value,omitempty"`
}

type refOpaque struct {
	Type uint8 `json:"type"`
	Body hexed `json:"body,omitempty"`
}

type refGenesis struct {
	Revision       uint16         `json:"revision"`
	Origin         string         `json:"origin"`
	Production     bool           `json:"production"`
	SigningKey     hexed          `json:"signing_key"`
	Policy         string         `json:"policy,omitempty"`
	Auditors       []hexed        `json:"auditors,omitempty"`
	Deals          uint8          `json:"deals"`
	MixModes       uint8          `json:"mix_modes"`
	Disclosure     uint8          `json:"disclosure"`
	DefaultCloseBy uint32         `json:"default_close_by"`
	MaxCloseBy     uint32         `json:"cap_on_close_by"`
	Access         uint8          `json:"access"`
	Predecessor    hexed          `json:"predecessor,omitempty"`
	Admins         []refAdmin     `json:"administrators,omitempty"`
	TwoPersons     []uint16       `json:"two_persons,omitempty"`
	Delay          uint32         `json:"delay,omitempty"`
	Extensions     []refExtension `json:"extensions,omitempty"`
}

type refAdmin struct {
	Name string `json:"name"`
	Key  hexed  `json:"key"`
}

type refContext struct {
	Origin     string         `json:"origin"`
	Genesis    hexed          `json:"genesis"`
	Production bool           `json:"production"`
	Table      string         `json:"table"`
	Algorithm  uint8          `json:"algorithm"`
	Kind       uint8          `json:"kind"`
	DeckHash   hexed          `json:"deck_hash,omitempty"`
	Cards      uint64         `json:"n,omitempty"`
	Take       uint64         `json:"m,omitempty"`
	Ranges     []uint32       `json:"ranges,omitempty"`
	Of         uint64         `json:"of,omitempty"`
	Parent     *refParent     `json:"parent,omitempty"`
	Plan       []refSource    `json:"plan,omitempty"`
	EndAt      refEndAt       `json:"end_at"`
	Disclosure uint8          `json:"disclosure"`
	Terms      *refTerms      `json:"terms,omitempty"`
	ForLedger  string         `json:"for_ledger,omitempty"`
	Extensions []refExtension `json:"extensions,omitempty"`
}

type refTerms struct {
	Kind  uint8  `json:"kind"`
	Count uint64 `json:"count,omitempty"`
	Hash  hexed  `json:"hash"`
}

type refParent struct {
	ID        uint64   `json:"id"`
	Positions []uint16 `json:"positions"`
}

type refSource struct {
	Source uint8       `json:"source"`
	Slot   hexed       `json:"slot_hash,omitempty"`
	Chain  hexed       `json:"chain_hash,omitempty"`
	Round  uint64      `json:"round,omitempty"`
	Origin string      `json:"origin,omitempty"`
	Commit *refForeign `json:"commit,omitempty"`
}

// refForeign is an entry or a head of another ledger: of a head the index is its size, and the leaf its root.
type refForeign struct {
	Index uint64 `json:"index"`
	Leaf  hexed  `json:"leaf"`
}

// refFollows is the close that an order's close follows, and the places that were dealt from the order.
type refFollows struct {
	refForeign
	Places uint16 `json:"places"`
}

type refAsked struct {
	Commit refForeign `json:"commit"`
	After  hexed      `json:"after"`
	Head   refForeign `json:"head"`
	State  hexed      `json:"state"`
	Ask    hexed      `json:"ask"`
}

type refBlind struct {
	Deal   refForeign `json:"deal"`
	Head   refForeign `json:"head"`
	Values []uint32   `json:"values"`
}

type refEndAt struct {
	Form  uint8  `json:"form"`
	Place uint64 `json:"place,omitempty"`
	Lo    uint64 `json:"lo,omitempty"`
	Hi    uint64 `json:"hi,omitempty"`
}

type refCommit struct {
	Context    refContext     `json:"context"`
	Commitment hexed          `json:"commitment"`
	DeckRoot   hexed          `json:"deck_root"`
	Serial     uint64         `json:"serial"`
	Previous   uint64         `json:"previous"`
	CloseBy    uint64         `json:"close_by"`
	GameRef    string         `json:"game_reference,omitempty"`
	KeyTag     hexed          `json:"key_tag"`
	Request    hexed          `json:"request_hash"`
	Instance   uint64         `json:"instance"`
	AskKey     hexed          `json:"ask_key,omitempty"`
	Extensions []refExtension `json:"extensions,omitempty"`
}

type refMix struct {
	Shuffle    uint64     `json:"shuffle"`
	Checkpoint uint64     `json:"checkpoint"`
	Values     []refValue `json:"values"`
}

type refValue struct {
	Source uint8  `json:"source"`
	Value  hexed  `json:"value,omitempty"`
	Cut    uint64 `json:"cut,omitempty"`
}

type refDeal struct {
	Shuffle    uint64         `json:"shuffle"`
	First      uint64         `json:"first_place"`
	Checkpoint uint64         `json:"checkpoint"`
	Final      bool           `json:"final,omitempty"`
	Runs       []refRun       `json:"runs"`
	Asked      *refAsked      `json:"asked,omitempty"`
	Blind      *refBlind      `json:"blind,omitempty"`
	Extensions []refExtension `json:"extensions,omitempty"`
}

type refRun struct {
	Cards     uint64 `json:"cards"`
	Purpose   uint8  `json:"purpose"`
	Recipient string `json:"recipient,omitempty"`
	Public    bool   `json:"public,omitempty"`
	Round     uint64 `json:"round,omitempty"`
}

type refClose struct {
	Shuffle    uint64         `json:"shuffle"`
	Entries    uint16         `json:"entries"`
	Outcome    uint8          `json:"outcome"`
	Reason     uint8          `json:"reason,omitempty"`
	Form       uint8          `json:"form"`
	Key        uint64         `json:"disclosure_key,omitempty"`
	Tape       hexed          `json:"tape,omitempty"` // form 2: encapsulated key ‖ ciphertext
	Blind      *refBlind      `json:"blind,omitempty"`
	Follows    *refFollows    `json:"follows,omitempty"`
	Extensions []refExtension `json:"extensions,omitempty"`
}

type refKey struct {
	Subject uint8     `json:"subject"`
	Public  hexed     `json:"key,omitempty"`
	Wraps   []refWrap `json:"wraps,omitempty"`
	Policy  string    `json:"policy,omitempty"`
	Retired uint8     `json:"retired_subject,omitempty"`
	ID      hexed     `json:"retired_key_id,omitempty"`
	From    uint64    `json:"retired_from,omitempty"`
	Change  uint8     `json:"change,omitempty"`
	Name    string    `json:"administrator,omitempty"`
	Acts    []uint16  `json:"acts,omitempty"`
	Delay   uint32    `json:"delay,omitempty"`
	Origin  string    `json:"co_dealer,omitempty"`
	Every   bool      `json:"every,omitempty"`
}

type refWrap struct {
	Auditor hexed `json:"auditor_key_id"`
	Sealed  hexed `json:"wrapped_key"`
}

type refEvent struct {
	Kind     uint8  `json:"kind"`
	Build    hexed  `json:"executable,omitempty"`
	Config   hexed  `json:"configuration,omitempty"`
	FIPS     bool   `json:"fips,omitempty"`
	Version  string `json:"software_version,omitempty"`
	Table    string `json:"table,omitempty"`
	Scope    uint8  `json:"scope,omitempty"`
	Deck     hexed  `json:"deck_hash,omitempty"`
	Cause    uint8  `json:"cause,omitempty"`
	Instance uint64 `json:"instance,omitempty"`
	Alarm    uint8  `json:"alarm,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Kernel   string `json:"kernel_release,omitempty"`
	VDSO     uint8  `json:"vdso,omitempty"`
	Size     uint64 `json:"adopted_size,omitempty"`
	Root     hexed  `json:"adopted_root,omitempty"`
	LostSize uint64 `json:"lost_size,omitempty"`
	LostRoot hexed  `json:"lost_root,omitempty"`
	Records  uint64 `json:"records,omitempty"`
	Newest   hexed  `json:"newest_record,omitempty"`
	Opaque   hexed  `json:"opaque,omitempty"` // of a kind that is not known
}

type refTakeover struct {
	Shuffle uint64 `json:"shuffle"`
	Extent  uint8  `json:"extent"`
	Reason  string `json:"reason"`
}

type refReveal struct {
	Shuffle    uint64         `json:"shuffle"`
	Final      bool           `json:"final,omitempty"`
	Exposed    bool           `json:"exposed,omitempty"`
	Places     []uint64       `json:"places"`
	Extensions []refExtension `json:"extensions,omitempty"`
}

type refDisclose struct {
	Shuffle    uint64         `json:"shuffle"`
	Entries    uint16         `json:"entries"`
	Form       uint8          `json:"form"`
	Tape       hexed          `json:"tape,omitempty"`
	Key        uint64         `json:"disclosure_key,omitempty"`
	Extensions []refExtension `json:"extensions,omitempty"`
}

type refHolder struct {
	Kind     uint8    `json:"kind"`
	ID       string   `json:"credential"`
	Form     uint8    `json:"form,omitempty"`
	Role     uint8    `json:"role,omitempty"`
	Identity string   `json:"identity,omitempty"`
	Tables   []string `json:"tables,omitempty"`
	Expires  uint64   `json:"expires,omitempty"`
	Digest   hexed    `json:"digest,omitempty"`
	Reason   string   `json:"reason,omitempty"`
}

type refAct struct {
	Act        uint8          `json:"act"`
	Digest     hexed          `json:"digest"`
	Previous   uint64         `json:"previous"`
	HeadSize   uint64         `json:"head_size"`
	HeadRoot   hexed          `json:"head_root"`
	Expires    uint64         `json:"expires"`
	Signatures []refSignature `json:"signatures"`
}

type refSignature struct {
	Administrator string `json:"administrator"`
	Signature     hexed  `json:"signature"`
}
