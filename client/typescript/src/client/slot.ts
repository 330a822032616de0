// A player's part in a mix.
import { toBase64 } from "../verify/bytes.ts";
import { slotHash } from "../verify/mix.ts";

// newSlot makes a slot for a shuffle at a table of the ledger with this origin. The player gives
// hash before the commit, and shows value to nobody until after it. The player's own program must
// make the slot: one that the house made gives the player nothing.
export function newSlot(origin: string, table: string): { value: string; hash: string } {
  const value = crypto.getRandomValues(new Uint8Array(32));
  return { value: toBase64(value), hash: toBase64(slotHash(origin, table, value)) };
}
