// What needs Node: a State in a file.
import { open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { State } from "./client/log.ts";

// fileState keeps the state in a file, replaced as a whole. File and directory are flushed to
// disk before save ends, so that a crash of the machine leaves the newest state. Each client
// has a file of its own.
export function fileState(file: string): State {
  return {
    async load() {
      try {
        return await readFile(file, "utf8");
      } catch (e) {
        if ((e as { code?: string }).code === "ENOENT") return null;
        throw e;
      }
    },
    async save(text) {
      const next = `${file}.${crypto.randomUUID()}`;
      try {
        await flushed(next, "wx", text); // before the name: else a crash may leave an empty file
        await rename(next, file);
      } catch (e) {
        await rm(next, { force: true });
        throw e;
      }
      if (process.platform !== "win32") await flushed(path.dirname(file), "r"); // Windows flushes no directories
    },
  };
}

async function flushed(name: string, flags: string, text?: string): Promise<void> {
  const f = await open(name, flags, 0o600);
  try {
    if (text !== undefined) await f.writeFile(text);
    await f.sync();
  } finally {
    await f.close();
  }
}
