// shuffled is the script block before the page's own: src/verify.
declare const shuffled: typeof import("../src/verify/index.ts");
