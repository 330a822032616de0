// A Liar stands between a client and the daemon. It changes or loses answers.
export class Liar {
  constructor() {
    this.about = null;
    this.lost = 0;
    this.calls = [];
  }
  // tell changes the answers to requests whose path ends in path.
  tell(path, lie) {
    this.about = path === null ? null : { path, lie };
  }
  fetch = async (url, init) => {
    const { pathname } = new URL(url),
      response = await fetch(url, init),
      bytes = await response.arrayBuffer();
    this.calls.push({ path: pathname, key: new Headers(init.headers).get("Idempotency-Key"), body: init.body });
    if (this.lost > 0) {
      this.lost--;
      throw new TypeError("fetch failed");
    }
    const lies = response.status === 200 && this.about && pathname.endsWith(this.about.path);
    const answer = lies ? this.about.lie(new TextDecoder().decode(bytes)) : bytes;
    return new Response(answer, { status: response.status, headers: response.headers });
  };
}

// another gives a different value of the same form.
function another(value, name) {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  if (value === "") return "x";
  if (/^[A-Za-z0-9+/]{43}=$/.test(value)) return `${value[0] === "A" ? "B" : "A"}${value.slice(1)}`;
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(Date.parse(value) + 1).toISOString();
  if (name === "receipt")
    return value.replace(/^extra (.)(.)/m, (_, a, b) => `extra ${b}${a}`).replace(/index \d+/, "index 1");
  return `${value}x`;
}

// forgeries gives false answers, by a name. In each of them one member is changed, left out, null
// or added, or one list lacks its last element, has its first one twice, is reversed or is a text.
export function forgeries(text, added) {
  const truth = JSON.parse(text),
    out = new Map();
  const put = (name, change) => {
    const copy = structuredClone(truth);
    change(copy);
    const forged = JSON.stringify(copy);
    if (forged !== JSON.stringify(truth)) out.set(name, forged);
  };
  const walk = (value, path, at) => {
    if (Array.isArray(value)) {
      if (value.length > 0) put(`${path} one left out`, (c) => at(c).pop());
      if (value.length > 0)
        put(`${path} one twice`, (c) => {
          const list = at(c);
          list.push(list[0]);
        });
      if (value.length > 1) put(`${path} turned around`, (c) => at(c).reverse());
      put(`${path} a text`, (c) => set(c, path, "x"));
    }
    for (const [name, member] of Object.entries(value)) {
      const below = `${path}/${name}`,
        of = (c) => at(c)[name];
      put(`${below} left out`, (c) => {
        if (Array.isArray(value)) at(c).splice(Number(name), 1);
        else delete at(c)[name];
      });
      put(`${below} null`, (c) => {
        at(c)[name] = null;
      });
      if (typeof member === "object") walk(member, below, of);
      else
        put(`${below} another`, (c) => {
          at(c)[name] = another(member, name);
        });
    }
  };
  walk(truth, "", (c) => c);
  for (const [name, value] of Object.entries(added))
    put(`/${name} added`, (c) => {
      c[name] ??= value;
    });
  return out;
}

function set(root, path, value) {
  const names = path.split("/").slice(1);
  if (names.length === 0) return;
  names.slice(0, -1).reduce((o, name) => o[name], root)[names.at(-1)] = value;
}
