// Elements. A text from a file is always set as text, never as markup.

export const $ = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

// A Child that is undefined, null or false is left out.
export type Child = string | Node | undefined | null | false;

// input gives a field of the form by its id.
export const input = (id: string) => $<HTMLInputElement>(id);

export function el(tag: string, attributes?: Record<string, string | false | undefined>, ...children: Child[]): HTMLElement {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (value !== undefined && value !== false) node.setAttribute(name, value);
  node.append(...children.filter((c): c is string | Node => c !== undefined && c !== null && c !== false));
  return node;
}
