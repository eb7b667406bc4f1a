import { html } from "./parts.js";

// Cividis, the colours of weights on every map of the course: dark 0, bright 1.
const CIVIDIS = ["#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958", "#fee838"]
  .map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));

export function cividis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  return CIVIDIS[low].map((x, i) => Math.round(x + (place - low) * (CIVIDIS[low + 1][i] - x)));
}

// A matrix that is a table of buttons, query down and key across. Tab comes to one
// cell; arrows, Home and End move; `onPoint(i, j)` hears which cell has the focus or the
// pointer. With `onPaint(i, j, on)` the cells are painted: by the space bar, by a click,
// and by a drag, which gives every cell that it crosses the value of the first.
export function matrix({ caption, corner, rows, columns, onPoint, onPaint }) {
  const cells = rows.map(() => columns.map(() => html("button", { type: "button", class: "co-cell", tabindex: -1 })));
  const heads = {
    rows: rows.map((row) => html("th", { scope: "row" }, row)),
    columns: columns.map((column) => html("th", { scope: "col" }, column)),
  };
  const lines = rows.map((_, i) => html("tr", {}, heads.rows[i], ...cells[i].map((cell) => html("td", {}, cell))));
  const table = html("table", { class: "co-matrix", role: "grid" }, html("caption", {}, caption),
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, corner), ...heads.columns)),
    html("tbody", {}, ...lines));
  cells[0][0].tabIndex = 0;
  table.toggleAttribute("data-paint", Boolean(onPaint));

  const placeOf = (node) => {
    const cell = node?.closest?.(".co-cell");
    const i = cells.findIndex((row) => row.includes(cell));
    return i < 0 ? null : [i, cells[i].indexOf(cell)];
  };
  const isOn = ([i, j]) => cells[i][j].getAttribute("aria-pressed") === "true";
  const point = (place) => {
    for (const cell of cells.flat()) cell.tabIndex = -1;
    cells[place[0]][place[1]].tabIndex = 0;
    onPoint?.(...place);
  };

  table.addEventListener("focusin", (event) => { const at = placeOf(event.target); if (at) point(at); });
  table.addEventListener("keydown", (event) => {
    const at = placeOf(event.target);
    if (!at) return;
    const [i, j] = at;
    const to = {
      ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
      Home: [i, 0], End: [i, columns.length - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    cells[to[0]]?.[to[1]]?.focus();
  });

  let brush = null; // the value that a drag gives, and the last cell that got it
  const under = (event) => placeOf(table.getRootNode().elementFromPoint(event.clientX, event.clientY));
  const paint = (place) => {
    if (!place || !brush || String(place) === brush.last) return;
    brush.last = String(place);
    onPaint(...place, brush.on);
  };
  table.addEventListener("pointerdown", (event) => {
    const at = placeOf(event.target);
    if (!at || event.button) return;
    cells[at[0]][at[1]].focus();
    if (!onPaint) return;
    table.setPointerCapture(event.pointerId);
    brush = { on: !isOn(at) };
    paint(at);
  });
  table.addEventListener("pointermove", (event) => {
    const at = under(event);
    if (at) point(at);
    for (const each of event.getCoalescedEvents?.() ?? []) paint(under(each));
    paint(at);
  });
  for (const end of ["pointerup", "pointercancel"]) table.addEventListener(end, () => { brush = null; });
  table.addEventListener("click", (event) => { // of a key, or of a screen reader
    const at = placeOf(event.target);
    if (at && onPaint && !event.detail) onPaint(...at, !isOn(at));
  });

  return {
    node: table,
    // Show a cell: its text, its full name, and its weight as a colour; null has none.
    show(i, j, { text, name, weight = null, on = null }) {
      const cell = cells[i][j];
      const colour = weight === null ? null : cividis(weight);
      cell.textContent = text;
      cell.setAttribute("aria-label", name);
      if (on !== null) cell.setAttribute("aria-pressed", on);
      cell.style.background = colour ? `rgb(${colour})` : "";
      cell.style.color = colour ? (weight < 0.4 ? "#fff" : "#15181c") : "";
    },
    // Light up one cell with its row and its two names.
    light(i, j) {
      lines.forEach((line, k) => line.toggleAttribute("data-lit", k === i));
      heads.columns.forEach((head, k) => head.toggleAttribute("data-lit", k === j));
      cells.forEach((row, k) => row.forEach((cell, l) => cell.toggleAttribute("data-lit", k === i && l === j)));
    },
    // Say of a row that it sees nothing.
    darken(i, dark) { lines[i].toggleAttribute("data-dark", dark); },
  };
}
