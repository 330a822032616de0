// What the page holds between two checks.

// Given is a file that the reader gave, or the answer to a link. Of a file that is too large for the verifier, bytes
// are only the beginning.
export interface Given { name: string; bytes: Uint8Array<ArrayBuffer>; size: number; link?: Link }

// A Link names a shuffle of the server that the page came from, or of host. It can bring a key and a slot.
export interface Link { host?: string; ledger: string; id: number; key?: string; slot?: string }

// A TableLink names a table whose hands are followed.
export interface TableLink { host?: string; ledger: string; table: string }

export const state: { chosen: Given | null; ticket: Given | null; keyOfLink: boolean; slotOfLink: boolean; runs: number; link: (() => void) | null; result: (() => void) | null; again: (() => void) | null } = {
  chosen: null,      // what is checked, with the link that it came by
  ticket: null,      // the proof of a ticket
  keyOfLink: false,  // a link brought the key in the field
  slotOfLink: false, // a link brought the secret value in the field
  runs: 0,
  link: null,        // writes again what is said about a link
  result: null,      // writes the verdict again
  again: null,       // follows the table anew, and judges its hands under the key that is in the field now
};
