// 1.4: bytes that no writer makes; what this version does not list; and a step
// of section 10 that does not hold.
export class Malformed extends Error {}

export class Unknown extends Error {}

export class Fault extends Error {
  constructor(detail, cause) { super(detail); this.likely = cause; }
}
