// Elements. All that comes from a file is set as text, never as markup.

export const $ = (id) => document.getElementById(id);

export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (value !== undefined && value !== false) node.setAttribute(name, value);
  node.append(...children.filter((c) => c !== undefined && c !== null && c !== false));
  return node;
}
