// The language of the page, and how it writes numbers, times and texts that are not its own.
import { $, el, input } from "./dom.ts";
import { ar } from "./words/ar.ts";
import { de } from "./words/de.ts";
import { en, type Words } from "./words/en.ts";
import { es } from "./words/es.ts";

export type { Words };

// LANGUAGES has the languages by their BCP 47 codes, each under its own name for itself.
export const LANGUAGES: Record<string, { name: string; words: Words; rtl?: true }> = {
  en: { name: "English", words: en },
  es: { name: "Español", words: es },
  de: { name: "Deutsch", words: de },
  ar: { name: "العربية", words: ar, rtl: true },
};

// t has the words of the page's language.
export let t: Words = en;
let locale = "en", rtl = false;

// preferred gives the first of the reader's languages that the page has, or English.
export const preferred = (): string => navigator.languages.map((tag) => tag.split("-")[0]!).find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";

// speak sets the language of the page. Numbers and times are written as in the reader's country, but always
// with the digits 0 to 9, as in the evidence.
export function speak(language: string): void {
  ({ words: t, rtl = false } = LANGUAGES[language]! as { words: Words; rtl?: boolean });
  locale = `${navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language}-u-nu-latn`;
  Object.assign(document.documentElement, { lang: language, dir: rtl ? "rtl" : "ltr" });
  document.title = t.title;
  for (const node of document.querySelectorAll<HTMLElement>("[data-t]")) node.replaceChildren(t[node.dataset.t as "title"]);
  $("served").replaceChildren(...fill(t.served, { command: el("code", { dir: "ltr" }, "shuffled verify --key KEY FILE"), contract: el("a", { href: String(new URL("openapi.yaml", document.baseURI)) }, t.contract) }));
  input("language").setAttribute("aria-label", t.language);
  input("language").value = language;
}

// of gives a table's value for a code. The code can come from a file, so only the table's own members count.
export const of = <T>(table: Record<string, T>, code: string | undefined): T | undefined => code !== undefined && Object.hasOwn(table, code) ? table[code] : undefined;

export const num = (n: number): string => n.toLocaleString(locale);

// when gives a time in the reader's time zone. The JSON of a verdict has it in UTC.
export function when(time: string): string {
  const at = new Date(time);
  return at.getTimezoneOffset() === 0 ? iso(`${time.slice(0, 10)}, ${time.slice(11, 19)} UTC`)
    : iso(new Intl.DateTimeFormat(locale, { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" }).format(at));
}

export const listed = (words: string[]): string => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(t.comma)}${t.and}${words.at(-1)}`;

const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, BEYOND = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const [ISOLATE, END] = [0x2068, 0x2069].map((code) => String.fromCodePoint(code));

// iso isolates a text that is not the page's own, so that it cannot change the direction of the sentence
// around it (Unicode UAX 9).
export function iso(text: string | number): string {
  const plain = String(text).replace(CONTROLS, "\ufffd");
  return rtl || BEYOND.test(plain) ? `${ISOLATE}${plain}${END}` : plain;
}

// spelt has the code points that are not ASCII behind a name: letters of two scripts can look alike.
const point = (c: string): string => `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
export const spelt = (name: string, beyond = [...name].filter((c) => c > "\x7f")): string => beyond.length > 0 ? `${name} (${beyond.map(point).join(" ")})` : name;

// tech marks the verifier's own words, which are English in every language of the page.
export const tech = (text: string): HTMLElement => el("span", { lang: "en", dir: "ltr", class: "tech" }, text.replace(CONTROLS, "\ufffd"));

// fill replaces each name in braces by its node.
export const fill = (text: string, nodes: Record<string, string | Node>): (string | Node)[] => text.split(/\{(\w+)\}/).map((part, i) => i % 2 === 0 ? part : nodes[part]!);
