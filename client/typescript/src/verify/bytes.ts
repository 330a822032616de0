// Bytes and texts (1.1).
import type { Bytes } from "./types.ts";

export const MAX_INT = 2 ** 53 - 1;
export const utf8 = new TextEncoder();
export const ascii = (bytes: Uint8Array) => String.fromCharCode(...bytes);
export const label = (name: string): Bytes => utf8.encode(`shuffled/v1/${name}\0`);
export const u16 = (n: number) => Uint8Array.of(n >> 8, n);
export const u32 = (n: number) => Uint8Array.of(n >>> 24, n >>> 16, n >>> 8, n);
export const u64 = (n: number) => join(u32(Math.floor(n / 2 ** 32)), u32(n % 2 ** 32));
export const str8 = (text: string) => { const b = utf8.encode(text); return join(Uint8Array.of(b.length), b); };
export const blob16 = (bytes: Bytes) => join(u16(bytes.length), bytes);

// starts tells whether a word of ASCII stands in the bytes at the index at.
export function starts(bytes: Uint8Array, word: string, at = 0): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return false;
  return true;
}

// fromUTF8 replaces what is not UTF-8 by U+FFFD, so callers check the bytes first or compare them with the text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
export const fromUTF8 = (bytes: Uint8Array) => decoder.decode(bytes);

export function join(...parts: Uint8Array[]): Bytes {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) { out.set(p, at); at += p.length; }
  return out;
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SIXTET = new Int8Array(256).fill(-1);

for (let i = 0; i < 64; i++) SIXTET[BASE64.charCodeAt(i)] = i;
const PAD = 0x3d; // =

// fromBase64 reads padded base64 (RFC 4648 section 4), given as text or as its bytes. It gives null for
// any other text.
export function fromBase64(input: string | Uint8Array): Bytes | null {
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

export function toBase64(bytes: Uint8Array): string {
  let s = "";
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s);
}

export const hex = (bytes: Uint8Array) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

// time gives undefined after the year 9999, because RFC 3339 has years of four digits (10.4).
export const time = (ms: number) => ms <= 253402300799999 ? new Date(ms).toISOString() : undefined;
