// The origin of a child's cards, takeovers, and whether the shuffle goes on.
import { el } from "./dom.ts";
import { nameOf } from "./link.ts";
import { fill, iso, t, when } from "./words.ts";
import type { Link } from "./state.ts";
import type { Story, ToldTakeover, Verdict } from "../src/verify/types.ts";

// ending says that a shuffle is continued or overdue. It gives null for any other.
function ending(v: Verdict): string | null {
  if (v.outcome === "continued") return t.continued;
  return v.state === "open" && v.close_by !== undefined && Date.parse(v.close_by) <= Date.now() ? t.overdue(when(v.close_by)) : null;
}

// origin says what is checked about the cards of a child, which come from its parent.
function origin({ id, cards }: { id: number; cards: number }, link: Link | undefined): HTMLElement {
  const name = t.shuffle(id), there = link ? el("a", { href: `#${nameOf({ ...link, id })}` }, name) : name;
  return el("p", {}, ...fill(t.child(cards), { shuffle: there, name }));
}

// takenOver says who took the shuffle over from whom, at which place, and why. The reason is the house's word.
const takenOver = ({ time, identity, from, place, extent, reason }: ToldTakeover): HTMLElement =>
  el("p", {}, t.takenOver(iso(identity), iso(from), time && when(time), place, extent === "play", iso(reason)));

export function pastSection(v: Verdict, story: Story | null, link: Link | undefined): HTMLElement | null {
  if (v.level === undefined) return null;
  const end = ending(v), parts = [...(v.takeovers ?? []).map(takenOver), ...(end === null ? [] : [el("p", {}, end)])];
  if (story?.parent) parts.unshift(origin(story.parent, link));
  return parts.length > 0 ? el("section", { class: "ending" }, ...parts) : null;
}
