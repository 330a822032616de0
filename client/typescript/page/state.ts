// What the page holds between two checks.
// Of a file that is larger than the verifier takes, bytes are the first.
export interface Given { name: string; bytes: Uint8Array<ArrayBuffer>; size: number; link?: Link }

// A Link names a shuffle of the server that the page came from, or of a host, and may bring more.
export interface Link { host?: string; ledger: string; id: number; key?: string; slot?: string }

export const state: { chosen: Given | null; ticket: Given | null; keyOfLink: boolean; slotOfLink: boolean; runs: number; link: (() => void) | null; result: (() => void) | null } = {
  chosen: null,      // {name, bytes} of a file, and the link that it came by
  ticket: null,      // {name, bytes} of the proof of a ticket
  keyOfLink: false,  // the key in the field is one that a link brought
  slotOfLink: false, // and so is the secret value
  runs: 0,
  link: null,        // says again what is said of a link,
  result: null,      // and of the verdict
};
