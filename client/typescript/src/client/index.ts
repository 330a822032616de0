export { Client, type ListParams, type Status } from "./client.ts";
export type { Done, Step } from "./batch.ts";
export { Committed } from "./committed.ts";
export { ShuffledError, isFault, type ErrorCode } from "./errors.ts";
export { newKey } from "./key.ts";
export type { CallOptions, Config } from "./ledger.ts";
export type { State } from "./log.ts";
export { newSlot } from "./slot.ts";
export type * from "./api.gen.ts";
