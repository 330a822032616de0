package spec

import "shuffled/internal/known"

// Entries by their fields, as the data files show them.

// Hexed is a byte string, lower-case hex in the data files.
type Hexed = known.Bytes

// Entry is an entry by its fields. Codes are numbers as in the tables; a
// member that is absent in the data files is 0, false or empty.
type Entry struct {
	Time       uint64    `json:"time"`
	Identity   string    `json:"identity"`
	Credential string    `json:"credential"` // of the header
	Genesis    *Genesis  `json:"genesis,omitempty"`
	Commit     *Commit   `json:"commit,omitempty"`
	Mix        *Mix      `json:"mix,omitempty"`
	Deal       *Deal     `json:"deal,omitempty"`
	Close      *Close    `json:"close,omitempty"`
	Key        *Key      `json:"key,omitempty"`
	Event      *Event    `json:"event,omitempty"`
	Takeover   *Takeover `json:"takeover,omitempty"`
	Holder     *Holder   `json:"credential_entry,omitempty"`
	Act        *Act      `json:"act,omitempty"`
	Reveal     *Reveal   `json:"reveal,omitempty"`
	Disclose   *Disclose `json:"disclosure,omitempty"`
	Opaque     *Opaque   `json:"opaque,omitempty"` // of a type that is not known
}

// Extension is an extension that no field has.
type Extension struct {
	Code  uint8 `json:"code"`
	Value Hexed `json:"value,omitempty"`
}

// Opaque is the body of an entry of a type that is not known.
type Opaque struct {
	Type uint8 `json:"type"`
	Body Hexed `json:"body,omitempty"`
}

// Genesis is the body of section 5.1.
type Genesis struct {
	Revision       uint16      `json:"revision"`
	Origin         string      `json:"origin"`
	Production     bool        `json:"production"`
	SigningKey     Hexed       `json:"signing_key"`
	Policy         string      `json:"policy,omitempty"`
	Auditors       []Hexed     `json:"auditors,omitempty"`
	Deals          uint8       `json:"deals"`
	MixModes       uint8       `json:"mix_modes"`
	Disclosure     uint8       `json:"disclosure"`
	DefaultCloseBy uint32      `json:"default_close_by"`
	MaxCloseBy     uint32      `json:"cap_on_close_by"`
	Access         uint8       `json:"access"`
	Predecessor    Hexed       `json:"predecessor,omitempty"`
	Admins         []Admin     `json:"administrators,omitempty"`
	TwoPersons     []uint16    `json:"two_persons,omitempty"`
	Delay          uint32      `json:"delay,omitempty"`
	Extensions     []Extension `json:"extensions,omitempty"`
}

// Admin is an administrator of a genesis.
type Admin struct {
	Name string `json:"name"`
	Key  Hexed  `json:"key"`
}

// Context is what section 5.2 describes.
type Context struct {
	Origin     string      `json:"origin"`
	Genesis    Hexed       `json:"genesis"`
	Production bool        `json:"production"`
	Table      string      `json:"table"`
	Algorithm  uint8       `json:"algorithm"`
	Kind       uint8       `json:"kind"`
	DeckHash   Hexed       `json:"deck_hash,omitempty"`
	Cards      uint64      `json:"n,omitempty"`
	Take       uint64      `json:"m,omitempty"`
	Ranges     []uint32    `json:"ranges,omitempty"`
	Of         uint64      `json:"of,omitempty"`
	Parent     *Parent     `json:"parent,omitempty"`
	Plan       []Source    `json:"plan,omitempty"`
	EndAt      EndAt       `json:"end_at"`
	Disclosure uint8       `json:"disclosure"`
	Terms      *Terms      `json:"terms,omitempty"`
	ForLedger  string      `json:"for_ledger,omitempty"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// Terms are an extension of a context.
type Terms struct {
	Kind  uint8  `json:"kind"`
	Count uint64 `json:"count,omitempty"`
	Hash  Hexed  `json:"hash"`
}

// Parent says which positions of which shuffle are shuffled again.
type Parent struct {
	ID        uint64   `json:"id"`
	Positions []uint16 `json:"positions"`
}

// Source is a source of a mix plan.
type Source struct {
	Source uint8    `json:"source"`
	Slot   Hexed    `json:"slot_hash,omitempty"`
	Chain  Hexed    `json:"chain_hash,omitempty"`
	Round  uint64   `json:"round,omitempty"`
	Origin string   `json:"origin,omitempty"`
	Commit *Foreign `json:"commit,omitempty"`
}

// Foreign is an entry or a head of another ledger: of a head the index is its size, and the leaf its root.
type Foreign struct {
	Index uint64 `json:"index"`
	Leaf  Hexed  `json:"leaf"`
}

// Follows is the close that an order's close follows, and the places that were dealt from the order.
type Follows struct {
	Foreign
	Places uint16 `json:"places"`
}

// Asked is the extension of a deal of an order for another ledger.
type Asked struct {
	Commit Foreign `json:"commit"`
	After  Hexed   `json:"after"`
	Head   Foreign `json:"head"`
	State  Hexed   `json:"state"`
	Ask    Hexed   `json:"ask"`
}

// Blind is the extension of a deal or close with a co-dealer.
type Blind struct {
	Deal   Foreign  `json:"deal"`
	Head   Foreign  `json:"head"`
	Values []uint32 `json:"values"`
}

// EndAt is the place of the cut card, fixed or drawn.
type EndAt struct {
	Form  uint8  `json:"form"`
	Place uint64 `json:"place,omitempty"`
	Lo    uint64 `json:"lo,omitempty"`
	Hi    uint64 `json:"hi,omitempty"`
}

// Commit is the body of section 5.3.
type Commit struct {
	Context    Context     `json:"context"`
	Commitment Hexed       `json:"commitment"`
	DeckRoot   Hexed       `json:"deck_root"`
	Serial     uint64      `json:"serial"`
	Previous   uint64      `json:"previous"`
	CloseBy    uint64      `json:"close_by"`
	GameRef    string      `json:"game_reference,omitempty"`
	KeyTag     Hexed       `json:"key_tag"`
	Request    Hexed       `json:"request_hash"`
	Instance   uint64      `json:"instance"`
	AskKey     Hexed       `json:"ask_key,omitempty"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// Mix is the body of section 5.4.
type Mix struct {
	Shuffle    uint64  `json:"shuffle"`
	Checkpoint uint64  `json:"checkpoint"`
	Values     []Value `json:"values"`
}

// Value is the value of a source of a mix.
type Value struct {
	Source uint8  `json:"source"`
	Value  Hexed  `json:"value,omitempty"`
	Cut    uint64 `json:"cut,omitempty"`
}

// Deal is the body of section 5.5.
type Deal struct {
	Shuffle    uint64      `json:"shuffle"`
	First      uint64      `json:"first_place"`
	Checkpoint uint64      `json:"checkpoint"`
	Final      bool        `json:"final,omitempty"`
	Runs       []Run       `json:"runs"`
	Asked      *Asked      `json:"asked,omitempty"`
	Blind      *Blind      `json:"blind,omitempty"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// Run is a run of a deal.
type Run struct {
	Cards     uint64 `json:"cards"`
	Purpose   uint8  `json:"purpose"`
	Recipient string `json:"recipient,omitempty"`
	Public    bool   `json:"public,omitempty"`
	Round     uint64 `json:"round,omitempty"`
}

// Close is the body of section 5.6.
type Close struct {
	Shuffle    uint64      `json:"shuffle"`
	Entries    uint16      `json:"entries"`
	Outcome    uint8       `json:"outcome"`
	Reason     uint8       `json:"reason,omitempty"`
	Form       uint8       `json:"form"`
	Key        uint64      `json:"disclosure_key,omitempty"`
	Tape       Hexed       `json:"tape,omitempty"` // form 2: encapsulated key ‖ ciphertext
	Blind      *Blind      `json:"blind,omitempty"`
	Follows    *Follows    `json:"follows,omitempty"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// Key is the body of section 5.7.
type Key struct {
	Subject uint8    `json:"subject"`
	Public  Hexed    `json:"key,omitempty"`
	Wraps   []Wrap   `json:"wraps,omitempty"`
	Policy  string   `json:"policy,omitempty"`
	Retired uint8    `json:"retired_subject,omitempty"`
	ID      Hexed    `json:"retired_key_id,omitempty"`
	From    uint64   `json:"retired_from,omitempty"`
	Change  uint8    `json:"change,omitempty"`
	Name    string   `json:"administrator,omitempty"`
	Acts    []uint16 `json:"acts,omitempty"`
	Delay   uint32   `json:"delay,omitempty"`
	Origin  string   `json:"co_dealer,omitempty"`
	Every   bool     `json:"every,omitempty"`
}

// Wrap is a disclosure key, sealed to one auditor.
type Wrap struct {
	Auditor Hexed `json:"auditor_key_id"`
	Sealed  Hexed `json:"wrapped_key"`
}

// Event is the body of section 5.8.
type Event struct {
	Kind     uint8  `json:"kind"`
	Build    Hexed  `json:"executable,omitempty"`
	Config   Hexed  `json:"configuration,omitempty"`
	FIPS     bool   `json:"fips,omitempty"`
	Version  string `json:"software_version,omitempty"`
	Table    string `json:"table,omitempty"`
	Scope    uint8  `json:"scope,omitempty"`
	Deck     Hexed  `json:"deck_hash,omitempty"`
	Cause    uint8  `json:"cause,omitempty"`
	Instance uint64 `json:"instance,omitempty"`
	Alarm    uint8  `json:"alarm,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Kernel   string `json:"kernel_release,omitempty"`
	VDSO     uint8  `json:"vdso,omitempty"`
	Size     uint64 `json:"adopted_size,omitempty"`
	Root     Hexed  `json:"adopted_root,omitempty"`
	LostSize uint64 `json:"lost_size,omitempty"`
	LostRoot Hexed  `json:"lost_root,omitempty"`
	Records  uint64 `json:"records,omitempty"`
	Newest   Hexed  `json:"newest_record,omitempty"`
	Opaque   Hexed  `json:"opaque,omitempty"` // of a kind that is not known
}

// Takeover is the body of section 5.9.
type Takeover struct {
	Shuffle uint64 `json:"shuffle"`
	Extent  uint8  `json:"extent"`
	Reason  string `json:"reason"`
}

// Reveal is the body of section 5.12.
type Reveal struct {
	Shuffle    uint64      `json:"shuffle"`
	Final      bool        `json:"final,omitempty"`
	Exposed    bool        `json:"exposed,omitempty"`
	Places     []uint64    `json:"places"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// Disclose is the body of section 5.13.
type Disclose struct {
	Shuffle    uint64      `json:"shuffle"`
	Entries    uint16      `json:"entries"`
	Form       uint8       `json:"form"`
	Tape       Hexed       `json:"tape,omitempty"`
	Key        uint64      `json:"disclosure_key,omitempty"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// Holder is the body of section 5.10, a credential.
type Holder struct {
	Kind     uint8    `json:"kind"`
	ID       string   `json:"credential"`
	Form     uint8    `json:"form,omitempty"`
	Role     uint8    `json:"role,omitempty"`
	Identity string   `json:"identity,omitempty"`
	Tables   []string `json:"tables,omitempty"`
	Expires  uint64   `json:"expires,omitempty"`
	Digest   Hexed    `json:"digest,omitempty"`
	Reason   string   `json:"reason,omitempty"`
}

// Act is the body of section 5.11.
type Act struct {
	Act        uint8       `json:"act"`
	Digest     Hexed       `json:"digest"`
	Previous   uint64      `json:"previous"`
	HeadSize   uint64      `json:"head_size"`
	HeadRoot   Hexed       `json:"head_root"`
	Expires    uint64      `json:"expires"`
	Signatures []Signature `json:"signatures"`
}

// Signature is one of an act.
type Signature struct {
	Administrator string `json:"administrator"`
	Signature     Hexed  `json:"signature"`
}
