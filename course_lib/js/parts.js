// Small helpers that all widgets share.

// The language of the widget if it was given one, else that of the page: "en" or "ko".
export const language = (model) =>
  (model.get("lang") || document.documentElement.lang).startsWith("ko") ? "ko" : "en";

const NAMESPACE = { html: "http://www.w3.org/1999/xhtml", svg: "http://www.w3.org/2000/svg" };

function element(space, tag, attributes, children) {
  const node = document.createElementNS(NAMESPACE[space], tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// html("p", {class: "note"}, "text", child) and the same for drawings.
export const html = (tag, attributes = {}, ...children) => element("html", tag, attributes, children);
export const svg = (tag, attributes = {}, ...children) => element("svg", tag, attributes, children);

// JupyterLab takes plain keys for its own, the arrows too: a widget keeps those pressed in it.
export function keepKeys(node) {
  node.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
  return node;
}

// `code` between backticks; d_k with a small index, e^2 with a raised one.
export function rich(text) {
  return text.split("`").flatMap((part, odd) => (odd % 2 ? [html("code", {}, part)] : indexed(part)));
}

function indexed(text) {
  return text.split(/\b([A-Za-z][_^](?:[a-zT]+|[가-힣]+|\d+))/).flatMap((part, odd) =>
    odd % 2 ? [html("i", {}, part[0]), html(part[1] === "_" ? "sub" : "sup", {}, part.slice(2))] : [part]);
}

let counter = 0;
const page = Math.random().toString(36).slice(2, 8); // each widget loads its own copy of this file

// A name for `id` and `for` that no other widget on the page uses.
export const freshId = (word) => `${word}-${page}-${(counter += 1)}`;

// Note that a task or a question is solved: Python and the page hear of it, once.
export function solve(model, id) {
  const solved = model.get("solved");
  if (solved.includes(id)) return;
  model.set("solved", [...solved, id]);
  model.save_changes();
}
