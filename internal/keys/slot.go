package keys

// SlotSize is the length of a slot's value in bytes (docs/SPEC.md section 4.1).
const SlotSize = 32

// NewSlot makes the value of a player's slot. The player keeps it secret until the commit that has its hash is
// witnessed. From the mix on it is public.
func NewSlot() Secret { return random(SlotSize) }

// NewTicketSecret makes the secret of a list of tickets (docs/SPEC.md section 16.2): 32 bytes.
func NewTicketSecret() Secret { return random(32) }
