// JSON in the one spelling of section 8.
import { ascii, fromUTF8, starts } from "./bytes.ts";
import { INTEGER, readHash } from "./checkpoint.ts";
import { Malformed } from "./errors.ts";
import { BACKSLASH, QUOTE } from "./receipt.ts";
import type { Bytes } from "./types.ts";

const ESCAPES = new Map([..."\"\\bfnrt"].map((c, i) => [c.charCodeAt(0), "\"\\\b\f\n\r\t".charCodeAt(i)]));

// A Span has the index of the first byte of a string's content, and the index after its last byte.
export type Span = [number, number];

// Canonical reads JSON that has one spelling only, so its caller names what must come next.
export class Canonical {
  at = 0;
  constructor(readonly bytes: Bytes) {}
  refuse(what: string): never { throw new Malformed(`${what}, at byte ${this.at}`); }
  next(literal: string): boolean {
    if (!starts(this.bytes, literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }
  expect(literal: string): void { if (!this.next(literal)) this.refuse(`not the one form: ${literal} is missing`); }
  // span reads a string, and gives the Span of its content.
  span(): Span {
    this.expect('"');
    for (let at = this.at; ; at++) {
      const c = this.bytes[at];
      if (c === QUOTE) {
        const span: Span = [this.at, at];
        this.at = at + 1;
        return span;
      }
      if (c === BACKSLASH) {
        const e = this.escape(at);
        if (e === null) { this.at = at; this.refuse("not the one form: an escape"); }
        at += e.length - 1;
      } else if (!(c! >= 0x20)) {
        this.at = at;
        this.refuse("not the one form: a string");
      }
    }
  }
  escape(at: number): { code: number; length: number } | null {
    const short = ESCAPES.get(this.bytes[at + 1]!);
    if (short !== undefined) return { code: short, length: 2 };
    const four = /^u00([01][0-9a-f])$/.exec(ascii(this.bytes.subarray(at + 1, at + 6)));
    const code = four === null ? -1 : parseInt(four[1]!, 16);
    return code < 0 || "\b\f\n\r\t".includes(String.fromCharCode(code)) ? null : { code, length: 6 };
  }
  // content gives the content of a string, its escapes replaced by what they mean.
  content([from, to]: Span): Bytes {
    const raw = this.bytes.subarray(from, to);
    if (!raw.includes(BACKSLASH)) return raw;
    const out = new Uint8Array(raw.length);
    let n = 0;
    for (let at = from; at < to; n++) {
      const c = this.bytes[at];
      if (c !== BACKSLASH) { out[n] = c!; at++; continue; }
      const e = this.escape(at)!;
      out[n] = e.code;
      at += e.length;
    }
    return out.subarray(0, n);
  }
  string(): string { return fromUTF8(this.content(this.span())); }
  hash(what: string): Bytes { return readHash(this.content(this.span()), what); }
  integer(min: number, max: number): number {
    let end = this.at;
    while (end - this.at < 17 && this.bytes[end]! >= 0x30 && this.bytes[end]! <= 0x39) end++;
    const digits = ascii(this.bytes.subarray(this.at, end)), n = Number(digits);
    if (!INTEGER.test(digits) || n < min || n > max) this.refuse(`not an integer from ${min} to ${max}`);
    this.at = end;
    return n;
  }
  list<T>(read: () => T, max: number, what: string): T[] {
    this.expect("[");
    const out: T[] = [];
    if (this.next("]")) return out;
    do {
      if (out.push(read()) > max) this.refuse(`more than ${max} ${what}`);
    } while (this.next(","));
    this.expect("]");
    return out;
  }
}
