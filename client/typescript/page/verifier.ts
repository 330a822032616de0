// The verifier of shuffled/v1, written from docs/SPEC.md and the C2SP texts alone. It shares no
// code with the daemon. Section numbers in comments are those of SPEC. This script is made from
// client/typescript/src/verify, one module after another.
//
// A file is read as bytes, once and in order. Every size and count of 1.2 is checked before the
// work that it bounds.
export { parts } from "../src/verify/parts.ts";
export * from "../src/verify/index.ts";
