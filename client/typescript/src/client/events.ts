// The stream of events (text/event-stream), which continues after a lost connection.
import type { Event } from "./api.gen.ts";
import { ShuffledError, fault } from "./errors.ts";
import type { Ledger } from "./ledger.ts";
import { headers, pause, refusal, sleep } from "./send.ts";

const SILENCE = 20_000; // the daemon sends at least a comment every five seconds
const MAX_LINE = 65536;

export async function* events(l: Ledger, o: { after?: number; signal?: AbortSignal }): AsyncGenerator<Event> {
  let { after } = o,
    failed = 0;
  for (;;) {
    let again = 0;
    const stop = new AbortController(),
      signal = o.signal ? AbortSignal.any([o.signal, stop.signal]) : stop.signal;
    let watch = setTimeout(() => stop.abort(), SILENCE);
    try {
      const request = { method: "GET" as const, path: `/v1/${l.name}/events` };
      const response = await l.config.fetch(
        `${l.config.base}${request.path}${after === undefined ? "" : `?after=${after}`}`,
        { headers: headers(l.config, request, undefined), redirect: "manual", signal },
      );
      if (response.status !== 200 || !response.body) {
        const refused = refusal(response, "GET /events", (await response.text()).slice(0, MAX_LINE));
        if (refused.again < 0) throw refused.error;
        again = refused.again;
      } else {
        for await (const told of parse(response.body)) {
          clearTimeout(watch);
          watch = setTimeout(() => stop.abort(), SILENCE);
          if (told.id !== undefined) after = told.id;
          if (told.event) failed = 0;
          if (told.event) yield told.event;
        }
      }
    } catch (e) {
      if (e instanceof ShuffledError) throw e;
      if (o.signal?.aborted) return;
    } finally {
      clearTimeout(watch);
      stop.abort();
    }
    try {
      await sleep(Math.max(again, pause(l.config, ++failed)), o.signal);
    } catch {
      return;
    }
  }
}

// parse gives the id and the event of each block of a stream. For a comment it gives neither, so
// that the caller sees that the stream is alive.
async function* parse(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id?: number; event?: Event }> {
  const decoder = new TextDecoder(),
    reader = body.getReader();
  let rest = "",
    id: number | undefined,
    data = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop()!;
    if (rest.length > MAX_LINE) throw fault("a line of the events is too long", rest.slice(0, 100));
    for (const line of lines) {
      const colon = line.indexOf(":"),
        field = colon < 0 ? line : line.slice(0, colon),
        text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "id") {
        if (!/^[0-9]{1,15}$/.test(text)) throw fault("the id of an event is no index", line);
        id = Number(text);
      } else if (field === "data") {
        data += text;
        if (data.length > MAX_LINE) throw fault("an event is too long", data.slice(0, 100));
      } else if (line === "") {
        yield { ...(id !== undefined && { id }), ...(data !== "" && { event: parsed(data) }) };
        [id, data] = [undefined, ""];
      } else {
        yield {};
      }
    }
  }
}

function parsed(data: string): Event {
  try {
    return JSON.parse(data) as Event;
  } catch {
    throw fault("an event is not what the contract says", data);
  }
}
