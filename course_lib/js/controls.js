import { freshId, html, rich, svg } from "./parts.js";

// The controls of the explorers. Each takes keys and pointer alike and has a name.

export const fixed = (x, digits = 2) => x.toFixed(digits).replace("-", "−");

// A slider with its value in words: show(3, "8").
export function slider(label, min, max, step, onInput) {
  const id = freshId("range");
  const input = html("input", { type: "range", id, min, max, step });
  const output = html("output", { for: id });
  input.addEventListener("input", () => onInput(+input.value));
  return {
    node: html("div", { class: "co-slider" }, html("label", { for: id }, ...rich(label)), output, input),
    show(value, text) {
      input.value = value;
      input.setAttribute("aria-valuetext", text);
      output.textContent = text;
    },
  };
}

export function checkbox(label, onChange) {
  const id = freshId("switch");
  const input = html("input", { type: "checkbox", id });
  input.addEventListener("change", () => onChange(input.checked));
  return {
    node: html("div", { class: "co-switch" }, input, html("label", { for: id }, ...rich(label))),
    show(on) { input.checked = on; },
  };
}

// One of several, side by side: choice("Sentence", {whole: "the whole one", …}, onPick).
export function choice(label, options, onPick) {
  const group = freshId("choice");
  const inputs = Object.entries(options).map(([value, text]) => {
    const input = html("input", { type: "radio", name: group, value });
    input.addEventListener("change", () => onPick(value));
    return [input, html("label", {}, input, html("span", {}, ...rich(text)))];
  });
  return {
    node: html("fieldset", { class: "co-choice" }, html("legend", {}, label), ...inputs.map(([, node]) => node)),
    show(value) { for (const [input] of inputs) input.checked = input.value === value; },
  };
}

// A bar whose length is a share; the number beside it says the same.
export function bar(kind) {
  const node = html("span", { class: `co-bar co-${kind}`, "aria-hidden": "true" });
  return { node, show: (share) => { node.style.width = `${100 * share}%`; } };
}

// A list that is put in order by its buttons: order(["a", "b"], t) with t.up, t.down.
// `now()` gives the numbers of the items in the order in which they stand.
export function ordering(texts, start, t) {
  let now = start;
  const list = html("ol", { class: "co-order" });
  const items = texts.map((text, i) => {
    const buttons = [[-1, "↑", t.up], [1, "↓", t.down]].map(([step, sign, name]) => {
      const node = html("button", { type: "button", "aria-label": `${text}: ${name}` }, sign);
      node.addEventListener("click", () => {
        const place = now.indexOf(i);
        const other = place + step;
        if (other < 0 || other >= now.length) return;
        now = now.with(place, now[other]).with(other, i);
        draw();
        node.focus();
      });
      return node;
    });
    return html("li", {}, html("span", {}, ...rich(text)), ...buttons);
  });
  const draw = () => list.replaceChildren(...now.map((i) => items[i]));
  draw();
  return { node: list, now: () => now, clear() { now = start; draw(); } };
}

// A point of a drawing that is dragged, or moved with the arrows. `place(x, y)` puts it
// somewhere in the units of the drawing; `onMove(dx, dy, point)` hears of a key
// (a step of 1 or, with shift, 5 in a direction) or of the pointer's place.
export function handle(drawing, name, onKey, onDrag) {
  const node = svg("g", { class: "co-handle", role: "slider", tabindex: 0, "aria-label": name, "aria-valuenow": 0 },
    svg("circle", { r: 16, class: "co-reach" }), svg("circle", { r: 7 }));
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  node.addEventListener("keydown", (event) => {
    if (!steps[event.key]) return;
    event.preventDefault();
    onKey(...steps[event.key].map((step) => (event.shiftKey ? 5 * step : step)));
  });
  node.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    node.focus();
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    if (!node.hasPointerCapture(event.pointerId)) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    onDrag(x, y);
  });
  return {
    node,
    show(x, y, value, text) {
      node.setAttribute("transform", `translate(${x} ${y})`);
      node.setAttribute("aria-valuenow", value);
      node.setAttribute("aria-valuetext", text);
    },
  };
}
