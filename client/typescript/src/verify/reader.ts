// The fields of an entry (1.1 to 1.5).
import { ascii } from "./bytes.ts";
import { MAX_PASSED, isOpen, known, type ListName } from "./codes.ts";
import { Malformed, Unknown } from "./errors.ts";
import type { Bytes, Extension, Passed } from "./types.ts";

// Reader reads the fields of an entry one after another.
export class Reader {
  at = 0;
  constructor(readonly bytes: Bytes, readonly passed: Passed[] = []) {}
  take(n: number, field: string): Bytes {
    if (this.bytes.length - this.at < n) throw new Malformed(`${field}: the bytes end too early`);
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }
  uint(size: number, field: string): number {
    let n = 0;
    for (const b of this.take(size, field)) n = n * 256 + b;
    return n;
  }
  u8(field: string) { return this.uint(1, field); }
  u16(field: string) { return this.uint(2, field); }
  u32(field: string) { return this.uint(4, field); }
  u64(field: string): number {
    const high = this.u32(field), low = this.u32(field);
    if (high > 0x1fffff) throw new Malformed(`${field}: above 2^53 − 1`);
    return high * 2 ** 32 + low;
  }
  hash(field: string) { return this.take(32, field); }
  flag(field: string): boolean {
    const v = this.u8(field);
    if (v > 1) throw new Malformed(`${field}: a flag is 0 or 1, not ${v}`);
    return v === 1;
  }
  // among reads a number from 1 to last that is no code of section 15.
  among(last: number, field: string): number {
    const v = this.u8(field);
    if (v === 0) throw new Malformed(`${field}: 0`);
    if (v > last) throw new Unknown(`${field} ${v}`);
    return v;
  }
  // code reads a code of a list. If the list does not have the code, a critical code is unknown,
  // and any other is added to passed: what it stands for changes nothing (1.4).
  code(list: ListName, field: string = list): number {
    const v = this.u8(field);
    if (known(list, v)) return v;
    if (v === 0) throw new Malformed(`${field}: the code 0`);
    if (!isOpen(list) || v < 128) throw new Unknown(`${field} ${v}`);
    this.passed.push({ list, code: v });
    return v;
  }
  // rest reads the bytes after a code that was passed over.
  rest(field: string): Bytes {
    const n = this.bytes.length - this.at;
    if (n > MAX_PASSED) throw new Malformed(`${field}: ${n} bytes that nobody knows, above 1,024`);
    return this.take(n, field);
  }
  // extensions reads the extension list at the end of a structure. readers has a function that
  // reads the value, by code. The extensions without such a function are returned.
  extensions(list: ListName, readers: Record<number, (value: Bytes) => void> = {}): Extension[] {
    const out: Extension[] = [], count = this.u8("extensions");
    for (let i = 0, last = 0; i < count; i++) {
      const code = this.code(list, "extension");
      if (last >= code) throw new Malformed("extensions: the codes do not ascend");
      last = code;
      const read = readers[code];
      if (read) read(this.blob("extension", 0, 0xffff));
      else out.push({ code, value: this.blob("extension", 0, MAX_PASSED) });
    }
    return out;
  }
  text(field: string, grammar: RegExp): string {
    const s = ascii(this.take(this.u8(field), field));
    if (!grammar.test(s)) throw new Malformed(`${field}: not of its grammar`);
    return s;
  }
  blob(field: string, min: number, max: number): Bytes {
    const n = this.u16(field);
    if (n < min || n > max) throw new Malformed(`${field}: ${n} bytes, not ${min} to ${max}`);
    return this.take(n, field);
  }
  end(what: string): void {
    if (this.at !== this.bytes.length) throw new Malformed(`${what}: bytes are left over`);
  }
}

// Names, origins and reasons (1.5), and the release of a kernel (5.8).
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const NAME_OR_EMPTY = /^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$/;
export const ORIGIN = /^[a-z0-9](?:[a-z0-9./_-]{0,126}[a-z0-9])?$/;
export const REASON = /^[\x20-\x7e]{1,200}$/;
export const KERNEL = /^[\x21-\x7e]{0,64}$/;
