// 1.4: bytes that no writer makes; what this version does not list; and a step
// of section 10 that does not hold.
export class Malformed extends Error {}

export class Unknown extends Error {}

export class Fault extends Error {
  readonly likely: string | undefined;
  constructor(detail: string, cause?: string) { super(detail); this.likely = cause; }
}
