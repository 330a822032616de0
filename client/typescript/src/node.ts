// The part of the client that needs Node: a State in a file.
import { open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { State } from "./client/log.ts";

// fileState keeps the state in a file. save replaces the file as a whole, and flushes file and
// directory to disk before it ends, so that the newest state survives a crash of the machine.
// Clients that run at the same time need a file each.
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
        await flushed(next, "wx", text); // before the rename, so that a crash cannot leave an empty file
        await rename(next, file);
      } catch (e) {
        await rm(next, { force: true });
        throw e;
      }
      if (process.platform !== "win32") await flushed(path.dirname(file), "r"); // Windows cannot flush a directory
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
