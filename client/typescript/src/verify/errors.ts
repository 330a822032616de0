// Malformed: bytes that no writer of this version makes (1.4). Unknown: a code, version or type
// that this version does not list (1.4). Fault: a step that fails (10.1).
export class Malformed extends Error {}

export class Unknown extends Error {}

export class Fault extends Error {
  readonly likely: string | undefined;
  constructor(detail: string, cause?: string) { super(detail); this.likely = cause; }
}
