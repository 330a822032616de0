// Idempotency keys: UUIDs of version 7 (RFC 9562, section 5.7).
import { hex } from "../verify/bytes.ts";

// newKey makes a key from the time in milliseconds and 74 random bits. Store the key with the game before you use it.
export function newKey(now = Date.now()): string {
  const b = crypto.getRandomValues(new Uint8Array(16));
  for (let i = 0; i < 6; i++) b[i] = Math.floor(now / 256 ** (5 - i)) % 256;
  b[6] = 0x70 | (b[6]! & 0x0f); // version
  b[8] = 0x80 | (b[8]! & 0x3f); // variant
  return hex(b).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// keyTime gives the milliseconds in a key of newKey; null for any other key.
export function keyTime(key: string): number | null {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(key)
    ? parseInt(key.slice(0, 8) + key.slice(9, 13), 16)
    : null;
}
