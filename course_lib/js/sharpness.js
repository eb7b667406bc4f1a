import { entropy, jacobianNorm, mean, slopes, softmax } from "./arithmetic.js";
import { bar, checkbox, fixed, ordering, slider } from "./controls.js";
import { button, explorer } from "./frame.js";
import { html, rich, svg } from "./parts.js";

const TEXT = {
  en: {
    name: "Explorer: how sharp is the softmax?",
    width: "Width d_k", temperature: "Temperature T", scale: "Divide the scores by √d_k",
    another: "Another query", divisor: "The scores are divided by",
    one: "One query, eight keys", key: "Key", score: "Score", weight: "Weight", slope: "Slope",
    entropy: "Entropy", norm: "Jacobian norm", largest: "Largest weight", of: "of",
    many: (queries, keys) => `${queries} queries, ${keys} keys each: means at every width`,
    silent: "Silent rows (norm below 0.01)", chart: "Entropy, Jacobian norm and share of silent rows against the width d_k. The table below has the numbers.",
    axis: "each as a share of the most it can be", numbers: "The curves as a table",
    said: (d, t, h, j, w) => `Width ${d}, temperature ${t}: entropy ${h}, Jacobian norm ${j}, largest weight ${w}.`,
    up: "earlier", down: "later",
    steps: ["weighted sum of the values", "softmax over the keys", "scores: queries times keys", "hide what the mask forbids", "divide by √d_k"],
  },
  ko: {
    name: "탐색기: 소프트맥스는 얼마나 뾰족한가요?",
    width: "너비 d_k", temperature: "온도 T", scale: "점수를 √d_k로 나누기",
    another: "다른 쿼리", divisor: "점수를 나누는 수:",
    one: "쿼리 하나와 키 여덟 개", key: "키", score: "점수", weight: "가중치", slope: "기울기",
    entropy: "엔트로피", norm: "야코비 노름", largest: "가장 큰 가중치", of: "/",
    many: (queries, keys) => `쿼리 ${queries}개, 키 ${keys}개씩: 너비마다 구한 평균`,
    silent: "조용한 행(노름 0.01 미만)", chart: "너비 d_k에 따른 엔트로피, 야코비 노름, 조용한 행의 비율. 아래 표에 수가 있습니다.",
    axis: "각 값이 가질 수 있는 최댓값에 대한 비율", numbers: "곡선을 표로 보기",
    said: (d, t, h, j, w) => `너비 ${d}, 온도 ${t}: 엔트로피 ${h}, 야코비 노름 ${j}, 가장 큰 가중치 ${w}.`,
    up: "앞으로", down: "뒤로",
    steps: ["밸류의 가중합", "키에 대한 소프트맥스", "점수: 쿼리와 키의 곱", "마스크가 막은 곳 가리기", "√d_k로 나누기"],
  },
};

const START = { step: 6, heat: 0, divided: true, query: 0 }; // d_k = 64, T = 2^0
const SILENT = 0.01; // a row with a smaller Jacobian norm lets nothing through
const MOST_NORM = 0.5; // the largest Jacobian norm: two keys with half the weight each
const CURVES = ["entropy", "norm", "silent"];

const short = (x) => (x >= 100 ? x.toFixed(0) : String(+x.toPrecision(3)));

// ---- Numbers ----------------------------------------------------------------------

// scores[query][width] is a row of scores; Python sent tenths as 16-bit integers.
function unpack(view, widths, keys) {
  const number = (i) => view.getInt16(2 * i, true) / 10;
  const queries = view.byteLength / (2 * widths * keys);
  return Array.from({ length: queries }, (_, q) =>
    Array.from({ length: widths }, (_, w) =>
      Array.from({ length: keys }, (_, k) => number((q * widths + w) * keys + k))));
}

// Means over all queries at one width.
function measure(rows, divisor) {
  const weights = rows.map((row) => softmax(row, divisor));
  const norms = weights.map(jacobianNorm);
  return {
    entropy: mean(weights.map(entropy)),
    norm: mean(norms),
    silent: mean(norms.map((norm) => (norm < SILENT ? 1 : 0))),
  };
}

// ---- Verdicts on the tasks --------------------------------------------------------

function judgeTemperature({ divided, step, heat }, widths) {
  if (divided) return "off";
  if (widths[step] !== 256) return "width";
  if (heat === 4) return "right";
  if (Math.abs(heat - 8) <= 0.5) return "scaled_dot_product_attention/divide-by-d-k";
  if (heat < 0) return "colder-is-gentler";
  if (heat === 0) return "scaled_dot_product_attention/no-scale";
  return heat < 4 ? "sharp" : "flat";
}

function judgeGradient({ divided, heat, step }, norms) {
  if (divided || heat !== 2) return "off";
  const top = Math.max(...norms);
  const best = norms.indexOf(top);
  if (norms[step] > 0.9 * top) return ["right", { norm: fixed(norms[step]) }];
  if (step <= 1) return "only-falls";
  if (step >= best + 3) return "sharp-is-steep";
  return [step < best ? "wider" : "narrower", { norm: fixed(norms[step]), top: fixed(top) }];
}

// `largest` is the largest weight of the query at each width.
function judgeSmallest({ divided, heat, step }, largest, widths) {
  if (divided || heat !== 0) return "off";
  const first = largest.findIndex((weight) => weight >= 0.9);
  if (step === first) return ["right", { width: widths[step], weight: fixed(largest[step]) }];
  return [step < first ? "low" : "high", { weight: fixed(largest[step]) }];
}

// The steps are numbered as they stand in TEXT: 0 sum, 1 softmax, 2 scores, 3 mask, 4 scale.
function judgeOrder(order) {
  const [sum, softmax, scores, mask, scale] = [0, 1, 2, 3, 4].map((step) => order.indexOf(step));
  if (scores !== 0) return "scores-first";
  if (sum !== 4) return "sum-last";
  if (mask > softmax) return "masked_attention/after-the-softmax";
  if (scale > softmax) return "scaled_dot_product_attention/scale-after-softmax";
  return "right";
}

// ---- Parts of the page ------------------------------------------------------------

// The bar chart is a table: bars for the eye, numbers for everyone.
function barTable(words, t) {
  const rows = words.map((word) => {
    const [score, weight, slope] = ["score", "weight", "slope"].map(() => html("span", { class: "sh-number" }));
    const bars = { weight: bar("weight"), slope: bar("slope") };
    const line = html("tr", {}, html("th", { scope: "row" }, word), html("td", {}, score),
      html("td", {}, weight, bars.weight.node), html("td", {}, slope, bars.slope.node));
    return { line, score, weight, slope, bars };
  });
  const head = [[t.key], [t.score], [t.weight, " ", html("i", {}, "w")], [t.slope, " ", html("span", { class: "sh-number" }, "w(1 − w)")]];
  const table = html("table", { class: "sh-bars" }, html("caption", {}, t.one),
    html("thead", {}, html("tr", {}, ...head.map((cells) => html("th", { scope: "col" }, ...cells)))),
    html("tbody", {}, ...rows.map((row) => row.line)));
  return {
    table,
    show(scores, weights) {
      const moves = slopes(weights);
      rows.forEach((row, i) => {
        row.score.textContent = fixed(scores[i], 1);
        row.weight.textContent = fixed(weights[i]);
        row.slope.textContent = fixed(moves[i]);
        row.bars.weight.show(weights[i]);
        row.bars.slope.show(4 * moves[i]); // w(1 - w) is at most 1/4
      });
    },
  };
}

function tile(label, kind, most, t) {
  const value = html("strong");
  const meter = bar(kind);
  const limit = most === 1 ? [] : [` ${t.of} ${fixed(most)}`];
  const box = html("div", { class: "sh-tile" }, html("span", {}, label),
    html("span", { class: "sh-number" }, value, ...limit), html("span", { class: "sh-track" }, meter.node));
  return { box, show(x) { value.textContent = fixed(x); meter.show(x / most); } };
}

// The curves over all widths. A pointer on the drawing sets the width, as the slider does.
function chart(widths, title, t, onPick) {
  const [W, H, left, right, top, bottom] = [480, 190, 34, 12, 10, 40];
  const x = (i) => left + (i * (W - left - right)) / (widths.length - 1);
  const y = (share) => top + (1 - share) * (H - top - bottom);
  const text = (where, content) => svg("text", where, ...content);
  const drawing = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": t.chart });
  for (const share of [0, 0.5, 1]) {
    drawing.append(svg("line", { x1: left, x2: W - right, y1: y(share), y2: y(share), class: "sh-grid" }),
      text({ x: left - 6, y: y(share) + 4, "text-anchor": "end" }, [String(share)]));
  }
  widths.forEach((d, i) => i % 2 || drawing.append(text({ x: x(i), y: H - bottom + 18, "text-anchor": "middle" }, [String(d)])));
  drawing.append(text({ x: x((widths.length - 1) / 2), y: H - 3, "text-anchor": "middle" },
    [svg("tspan", { "font-style": "italic" }, "d"), svg("tspan", { dy: 3, "font-size": "80%" }, "k")]));
  const here = svg("line", { y1: top, y2: H - bottom, class: "sh-here" });
  drawing.append(here);
  const lines = Object.fromEntries(CURVES.map((kind) => {
    const path = svg("path", { class: `sh-line sh-${kind}` });
    const dot = svg("circle", { r: 5, class: `sh-dot sh-${kind}` });
    drawing.append(path, dot);
    return [kind, { path, dot }];
  }));

  const pick = (event) => {
    const box = drawing.getBoundingClientRect();
    const place = ((event.clientX - box.left) * W) / box.width;
    const step = Math.round(((place - left) * (widths.length - 1)) / (W - left - right));
    onPick(Math.min(Math.max(step, 0), widths.length - 1));
  };
  drawing.addEventListener("pointerdown", (event) => { drawing.setPointerCapture(event.pointerId); pick(event); });
  drawing.addEventListener("pointermove", (event) => { if (event.buttons) pick(event); });

  const names = { entropy: t.entropy, norm: t.norm, silent: t.silent };
  const legend = html("span", { class: "sh-legend" }, ...CURVES.map((kind) =>
    html("span", {}, svg("svg", { viewBox: "0 0 24 8", class: "sh-key", "aria-hidden": "true" },
      svg("path", { d: "M0 4H24", class: `sh-line sh-${kind}` })), names[kind])));
  const cells = widths.map((d) => {
    const numbers = CURVES.map(() => html("td"));
    return { line: html("tr", {}, html("th", { scope: "row" }, String(d)), ...numbers), numbers };
  });
  const table = html("table", {}, html("caption", {}, title),
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, ...rich("d_k")),
      ...CURVES.map((kind) => html("th", { scope: "col" }, names[kind])))),
    html("tbody", {}, ...cells.map((cell) => cell.line)));
  const figure = html("figure", {}, html("figcaption", {}, html("b", {}, title), legend,
    html("span", { class: "sh-axis" }, t.axis)), drawing,
    html("details", {}, html("summary", {}, t.numbers), table));
  return {
    figure,
    show(measures, most, step) {
      for (const kind of CURVES) {
        const points = measures.map((m, i) => [x(i), y(m[kind] / most[kind])]);
        lines[kind].path.setAttribute("d", `M${points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L")}`);
        lines[kind].dot.setAttribute("cx", points[step][0]);
        lines[kind].dot.setAttribute("cy", points[step][1]);
      }
      here.setAttribute("x1", x(step));
      here.setAttribute("x2", x(step));
      cells.forEach(({ line, numbers }, i) => {
        line.toggleAttribute("data-here", i === step);
        CURVES.forEach((kind, j) => {
          const value = measures[i][kind];
          numbers[j].textContent = kind === "silent" ? `${fixed(100 * value, 0)} %` : fixed(value);
        });
      });
    },
  };
}

// ---- The widget ---------------------------------------------------------------------

function build({ model, t, lang, update, state }) {
  const widths = model.get("widths");
  const words = model.get("words")[lang];
  const scores = unpack(model.get("tenths"), widths.length, model.get("key_count"));
  const most = { entropy: Math.log(model.get("key_count")), norm: MOST_NORM, silent: 1 };
  let measures = [];

  const divisorAt = (step) => 2 ** state.heat * (state.divided ? Math.sqrt(widths[step]) : 1);
  const rowAt = (step) => scores[state.query][step].slice(0, words.length);
  const largest = () => widths.map((_, i) => Math.max(...softmax(rowAt(i), divisorAt(i))));

  const width = slider(t.width, 0, widths.length - 1, 1, (step) => update({ step }));
  const heat = slider(t.temperature, -3, 10, 0.5, (value) => update({ heat: value }));
  const divided = checkbox(t.scale, (on) => update({ divided: on }));
  const another = button(t.another, () => update({ query: (state.query + 1) % scores.length }));
  const formula = html("p", { class: "sh-formula" });
  const bars = barTable(words, t);
  const tiles = {
    entropy: tile(t.entropy, "entropy", Math.log(words.length), t),
    norm: tile(t.norm, "norm", MOST_NORM, t),
    largest: tile(t.largest, "weight", 1, t),
  };
  const curves = chart(widths, t.many(scores.length, model.get("key_count")), t, (step) => update({ step }));
  const steps = ordering(t.steps, [0, 1, 2, 3, 4], t);

  function shown() {
    const weights = softmax(rowAt(state.step), divisorAt(state.step));
    return { weights, entropy: entropy(weights), norm: jacobianNorm(weights), largest: Math.max(...weights) };
  }

  return {
    tools: [width.node, heat.node, divided.node, another],
    body: [formula, bars.table,
      html("div", { class: "sh-tiles" }, ...Object.values(tiles).map((each) => each.box)), curves.figure],
    draw() {
      const d = widths[state.step];
      const temperature = short(2 ** state.heat);
      const { weights, ...numbers } = shown();
      measures = widths.map((_, i) => measure(scores.map((query) => query[i]), divisorAt(i)));
      width.show(state.step, String(d));
      heat.show(state.heat, temperature);
      divided.show(state.divided);
      formula.replaceChildren(`${t.divisor} `, html("b", {}, short(divisorAt(state.step))), " = ", html("i", {}, "T"),
        ...(state.divided ? rich(" · √d_k") : []),
        state.divided ? ` = ${temperature} · ${short(Math.sqrt(d))}` : "");
      bars.show(rowAt(state.step), weights);
      for (const [kind, value] of Object.entries(numbers)) tiles[kind].show(value);
      curves.show(measures, most, state.step);
    },
    said() {
      const { entropy: h, norm, largest: top } = shown();
      return t.said(widths[state.step], short(2 ** state.heat), ...[h, norm, top].map((x) => fixed(x)));
    },
    tasks: {
      temperature: () => judgeTemperature(state, widths),
      gradient: () => judgeGradient(state, measures.map((each) => each.norm)),
      smallest: () => judgeSmallest(state, largest(), widths),
      order: { node: steps.node, clear: steps.clear, judge: () => judgeOrder(steps.now()) },
    },
  };
}

export default explorer("sharpness", TEXT, () => ({ ...START }), build);
