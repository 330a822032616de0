// Bytes and texts, 1.1.

export const MAX_INT = 2 ** 53 - 1;
export const utf8 = new TextEncoder();
export const ascii = (bytes) => String.fromCharCode(...bytes);
export const label = (name) => utf8.encode(`shuffled/v1/${name}\0`);
export const u16 = (n) => Uint8Array.of(n >> 8, n);
export const u32 = (n) => Uint8Array.of(n >>> 24, n >>> 16, n >>> 8, n);
export const str8 = (text) => { const b = utf8.encode(text); return join(Uint8Array.of(b.length), b); };
export const blob16 = (bytes) => join(u16(bytes.length), bytes);

// starts: whether a word of ASCII stands in the bytes, from at.
export function starts(bytes, word, at = 0) {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return false;
  return true;
}

// fromUTF8 is for bytes that were found to be UTF-8.
export const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
export const fromUTF8 = (bytes) => decoder.decode(bytes);

export function join(...parts) {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) { out.set(p, at); at += p.length; }
  return out;
}

export function equal(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

// RFC 4648 section 4, padded, nothing else: null for any other text. It takes
// the bytes of the text, or the text.
export const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
export const SIXTET = new Int8Array(256).fill(-1);

for (let i = 0; i < 64; i++) SIXTET[BASE64.charCodeAt(i)] = i;
export const PAD = 0x3d; // =

export function fromBase64(input) {
  const text = typeof input === "string" ? utf8.encode(input) : input, n = text.length;
  if (n % 4 !== 0) return null;
  const pad = text[n - 1] !== PAD ? 0 : text[n - 2] !== PAD ? 1 : 2;
  const out = new Uint8Array(n / 4 * 3 - pad);
  let bits = 0, held = 0, at = 0;
  for (let i = 0; i < n - pad; i++) {
    const v = SIXTET[text[i]];
    if (v < 0) return null;
    bits = (bits << 6 | v) & 0xffff;
    held += 6;
    if (held >= 8) { held -= 8; out[at++] = bits >> held & 0xff; }
  }
  return (bits & (1 << held) - 1) === 0 ? out : null; // stray bits are 0
}

export function toBase64(bytes) {
  let s = "";
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s);
}

export const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
