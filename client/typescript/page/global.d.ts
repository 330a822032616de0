// shuffled is what the verifier's script block exports. It runs before the page's own.
declare const shuffled: typeof import("./verifier.ts");
