// What the page holds between two checks.
export const state = {
  chosen: null,      // {name, bytes} of a file, and the link that it came by
  ticket: null,      // {name, bytes} of the proof of a ticket
  keyOfLink: false,  // the key in the field is one that a link brought
  slotOfLink: false, // and so is the secret value
  runs: 0,
};
