import { entropy, jacobianNorm, mean, slopes, softmax } from "./arithmetic.js";
import { freshId, html, keepKeys, language, rich, svg } from "./parts.js";

const TEXT = {
  en: {
    name: "Explorer: how sharp is the softmax?",
    width: "Width d_k", temperature: "Temperature T", scale: "Divide the scores by √d_k",
    another: "Another query", reset: "Reset", divisor: "The scores are divided by",
    one: "One query, eight keys", key: "Key", score: "Score", weight: "Weight", slope: "Slope",
    entropy: "Entropy", norm: "Jacobian norm", largest: "Largest weight", of: "of",
    many: (queries, keys) => `${queries} queries, ${keys} keys each: means at every width`,
    silent: "Silent rows (norm below 0.01)", chart: "Entropy, Jacobian norm and share of silent rows against the width d_k. The table below has the numbers.",
    axis: "each as a share of the most it can be", numbers: "The curves as a table",
    tasks: "Two tasks", check: "Check my settings", right: "Right.", wrong: "Not yet.",
    misconception: "Misconception",
    said: (d, t, h, j, w) => `Width ${d}, temperature ${t}: entropy ${h}, Jacobian norm ${j}, largest weight ${w}.`,
    first: {
      ask: "Switch the division off and set d_k to 256. Which temperature makes the weights what √d_k would have made them?",
      off: "First switch “Divide the scores by √d_k” off. Here the temperature does its work.",
      width: "First set d_k to 256.",
      right: "T = 16 = √256. Dividing by √d_k is a temperature that grows with the width.",
      root: ["divide by d_k, not by its root", "256 is the variance of a score. Its spread, the standard deviation, is the root of that. Look at the entropy: the weights are almost even now."],
      direction: ["a lower temperature is gentler", "It is the other way round: T divides the scores, so a T below 1 makes them larger and the weights sharper."],
      same: "T = 1 changes nothing. The scores have a standard deviation of about 16. Which number brings it back to 1?",
      sharp: "Too sharp: the entropy is lower than it is with √d_k. Go up.",
      flat: "Too even: the entropy is higher than it is with √d_k. Go down.",
    },
    second: {
      ask: "Switch the division off and set T to 4. At which d_k does the gradient get through best (orange curve)?",
      off: "First switch the division off and set T to 4.",
      right: (v) => `${v} on average; the top is broad, so its neighbours count too. Much narrower, and 64 keys share the weight so evenly that each moves little. Much wider, and the winner takes all.`,
      falls: ["the gradient only ever falls", "It first rises. When 64 keys weigh almost the same, no single score matters much. Follow the orange curve from the left."],
      sharp: ["sharp means steep", "A sharp softmax has made up its mind. Its weights are almost 0 or almost 1, and w(1 − w) is small at both ends."],
      near: (v, top, wider) => `The Jacobian norm is ${v} here and ${top} at the top of the curve. Make the vectors ${wider ? "wider" : "narrower"}.`,
    },
  },
  ko: {
    name: "탐색기: 소프트맥스는 얼마나 뾰족한가요?",
    width: "너비 d_k", temperature: "온도 T", scale: "점수를 √d_k로 나누기",
    another: "다른 쿼리", reset: "처음으로", divisor: "점수를 나누는 수:",
    one: "쿼리 하나와 키 여덟 개", key: "키", score: "점수", weight: "가중치", slope: "기울기",
    entropy: "엔트로피", norm: "야코비 노름", largest: "가장 큰 가중치", of: "/",
    many: (queries, keys) => `쿼리 ${queries}개, 키 ${keys}개씩: 너비마다 구한 평균`,
    silent: "조용한 행(노름 0.01 미만)", chart: "너비 d_k에 따른 엔트로피, 야코비 노름, 조용한 행의 비율. 아래 표에 수가 있습니다.",
    axis: "각 값이 가질 수 있는 최댓값에 대한 비율", numbers: "곡선을 표로 보기",
    tasks: "과제 두 가지", check: "내 설정 확인", right: "맞았습니다.", wrong: "아직 아닙니다.",
    misconception: "흔한 오해",
    said: (d, t, h, j, w) => `너비 ${d}, 온도 ${t}: 엔트로피 ${h}, 야코비 노름 ${j}, 가장 큰 가중치 ${w}.`,
    first: {
      ask: "나누기를 끄고 d_k를 256으로 놓으세요. 온도가 얼마일 때 √d_k로 나눈 것과 같은 가중치가 되나요?",
      off: "먼저 “점수를 √d_k로 나누기”를 끄세요. 이번에는 온도가 그 일을 합니다.",
      width: "먼저 d_k를 256으로 놓으세요.",
      right: "T = 16 = √256입니다. √d_k로 나누는 것은 너비와 함께 커지는 온도입니다.",
      root: ["제곱근이 아니라 d_k로 나눈다", "256은 점수의 분산입니다. 퍼진 정도인 표준편차는 그 제곱근입니다. 엔트로피를 보면 가중치가 거의 고르게 되었습니다."],
      direction: ["온도를 낮추면 부드러워진다", "반대입니다. T는 점수를 나누므로 1보다 작은 T는 점수를 키우고 가중치를 더 뾰족하게 만듭니다."],
      same: "T = 1은 아무것도 바꾸지 않습니다. 표준편차가 16인 점수를 어떤 수로 나누어야 표준편차가 1이 되나요?",
      sharp: "가중치가 지나치게 뾰족합니다. 엔트로피가 √d_k로 나눌 때보다 낮습니다. 온도를 올리세요.",
      flat: "가중치가 지나치게 고릅니다. 엔트로피가 √d_k로 나눌 때보다 높습니다. 온도를 내리세요.",
    },
    second: {
      ask: "나누기를 끄고 T를 4로 놓으세요. 기울기가 가장 잘 전해지는 d_k는 얼마인가요? (주황색 곡선)",
      off: "먼저 나누기를 끄고 T를 4로 놓으세요.",
      right: (v) => `평균 ${v}입니다. 꼭대기가 넓으므로 이웃한 값도 정답입니다. 훨씬 좁으면 키 64개가 가중치를 고르게 나누어 가져 조금씩만 움직이고, 훨씬 넓으면 하나가 모두 가져갑니다.`,
      falls: ["기울기는 줄어들기만 한다", "처음에는 커집니다. 키 64개의 가중치가 거의 같을 때는 점수 하나가 큰 영향을 주지 못합니다. 주황색 곡선을 왼쪽부터 따라가 보세요."],
      sharp: ["뾰족하면 가파르다", "뾰족한 소프트맥스는 이미 결정을 내렸습니다. 가중치가 거의 0이거나 거의 1이고, 두 곳 모두에서 w(1 − w)는 매우 작습니다."],
      near: (v, top, wider) => `야코비 노름이 여기서는 ${v}, 곡선의 꼭대기에서는 ${top}입니다. d_k를 더 ${wider ? "키워" : "줄여"} 보세요.`,
    },
  },
};

const START = { step: 6, heat: 0, divided: true, query: 0 }; // d_k = 64, T = 2^0
const SILENT = 0.01; // a row with a smaller Jacobian norm lets nothing through
const MOST_NORM = 0.5; // the largest Jacobian norm: two keys with half the weight each
const CURVES = ["entropy", "norm", "silent"];

const fixed = (x, digits = 2) => x.toFixed(digits).replace("-", "−");
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

// ---- Verdicts on the tasks: [right, message, misconception] -----------------------

function judgeFirst({ divided, width, heat }, t) {
  if (divided) return [false, t.off];
  if (width !== 256) return [false, t.width];
  if (heat === 4) return [true, t.right];
  if (Math.abs(heat - 8) <= 0.5) return [false, t.root[1], t.root[0]];
  if (heat < 0) return [false, t.direction[1], t.direction[0]];
  if (heat === 0) return [false, t.same];
  return [false, heat < 4 ? t.sharp : t.flat];
}

function judgeSecond({ divided, heat, step, norms }, t) {
  if (divided || heat !== 2) return [false, t.off];
  const top = Math.max(...norms);
  const best = norms.indexOf(top);
  if (norms[step] > 0.9 * top) return [true, t.right(fixed(norms[step]))];
  if (step <= 1) return [false, t.falls[1], t.falls[0]];
  if (step >= best + 3) return [false, t.sharp[1], t.sharp[0]];
  return [false, t.near(fixed(norms[step]), fixed(top), step < best)];
}

// ---- Parts of the page ------------------------------------------------------------

function slider(label, min, max, step) {
  const id = freshId("range");
  const input = html("input", { type: "range", id, min, max, step });
  const output = html("output", { for: id });
  const box = html("div", { class: "sh-control" }, html("label", { for: id }, ...rich(label)), output, input);
  return {
    box, input,
    show(value, text) {
      input.value = value;
      input.setAttribute("aria-valuetext", text);
      output.textContent = text;
    },
  };
}

function bar(kind) {
  const node = html("span", { class: `sh-bar sh-${kind}`, "aria-hidden": "true" });
  return { node, show: (share) => { node.style.width = `${100 * share}%`; } };
}

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

function task(ask, judge, t) {
  const id = freshId("task");
  const verdict = html("p", { class: "sh-verdict", role: "status" });
  const button = html("button", { type: "button", "aria-describedby": id }, t.check);
  button.addEventListener("click", () => {
    const [right, message, misconception] = judge();
    verdict.dataset.state = right ? "right" : "wrong";
    verdict.replaceChildren(html("strong", {}, right ? `✓ ${t.right}` : `✗ ${t.wrong}`), " ",
      ...(misconception ? [html("em", {}, `${t.misconception}: “`, ...rich(misconception), "”. ")] : []),
      ...rich(message));
  });
  const clear = () => { verdict.replaceChildren(); delete verdict.dataset.state; };
  return { item: html("li", {}, html("p", { id }, ...rich(ask)), button, verdict), clear };
}

// ---- The widget ---------------------------------------------------------------------

function render({ model, el }) {
  const lang = language();
  const t = TEXT[lang];
  const widths = model.get("widths");
  const words = model.get("words")[lang];
  const scores = unpack(model.get("tenths"), widths.length, model.get("key_count"));
  const most = { entropy: Math.log(model.get("key_count")), norm: MOST_NORM, silent: 1 };
  const state = { ...START };
  let measures = [];

  const divisorAt = (step) => 2 ** state.heat * (state.divided ? Math.sqrt(widths[step]) : 1);

  const width = slider(t.width, 0, widths.length - 1, 1);
  const heat = slider(t.temperature, -3, 10, 0.5);
  const switchId = freshId("switch");
  const divided = html("input", { type: "checkbox", id: switchId });
  const another = html("button", { type: "button" }, t.another);
  const reset = html("button", { type: "button" }, t.reset);
  const formula = html("p", { class: "sh-formula" });
  const bars = barTable(words, t);
  const tiles = {
    entropy: tile(t.entropy, "entropy", Math.log(words.length), t),
    norm: tile(t.norm, "norm", MOST_NORM, t),
    largest: tile(t.largest, "weight", 1, t),
  };
  const curves = chart(widths, t.many(scores.length, model.get("key_count")), t, (step) => update({ step }));
  const tasks = [
    task(t.first.ask, () => judgeFirst({ ...state, width: widths[state.step] }, t.first), t),
    task(t.second.ask, () => judgeSecond({ ...state, norms: measures.map((m) => m.norm) }, t.second), t),
  ];
  const live = html("p", { class: "sh-hidden", role: "status" });

  el.append(keepKeys(html("section", { class: "sharpness", "aria-label": t.name, lang },
    html("p", { class: "sh-title" }, t.name),
    html("div", { class: "sh-controls" }, width.box, heat.box,
      html("div", { class: "sh-switch" }, divided, html("label", { for: switchId }, ...rich(t.scale))),
      html("div", { class: "sh-buttons" }, another, reset)),
    formula, bars.table,
    html("div", { class: "sh-tiles" }, ...Object.values(tiles).map((each) => each.box)),
    curves.figure,
    html("p", { class: "sh-title" }, t.tasks), html("ol", {}, ...tasks.map((each) => each.item)), live)));

  let timer;
  function update(change) {
    Object.assign(state, change);
    const d = widths[state.step];
    const divisor = divisorAt(state.step);
    const temperature = short(2 ** state.heat);
    const row = scores[state.query][state.step].slice(0, words.length);
    const weights = softmax(row, divisor);
    const shown = { entropy: entropy(weights), norm: jacobianNorm(weights), largest: Math.max(...weights) };
    measures = widths.map((_, i) => measure(scores.map((query) => query[i]), divisorAt(i)));

    width.show(state.step, String(d));
    heat.show(state.heat, temperature);
    divided.checked = state.divided;
    formula.replaceChildren(`${t.divisor} `, html("b", {}, short(divisor)), " = ", html("i", {}, "T"),
      ...(state.divided ? rich(" · √d_k") : []),
      state.divided ? ` = ${temperature} · ${short(Math.sqrt(d))}` : "");
    bars.show(row, weights);
    for (const [kind, value] of Object.entries(shown)) tiles[kind].show(value);
    curves.show(measures, most, state.step);
    clearTimeout(timer); // a screen reader hears where a movement ends, not each step
    timer = setTimeout(() => {
      live.textContent = t.said(d, temperature, ...Object.values(shown).map((x) => fixed(x)));
    }, 600);
  }

  width.input.addEventListener("input", () => update({ step: +width.input.value }));
  heat.input.addEventListener("input", () => update({ heat: +heat.input.value }));
  divided.addEventListener("change", () => update({ divided: divided.checked }));
  another.addEventListener("click", () => update({ query: (state.query + 1) % scores.length }));
  reset.addEventListener("click", () => {
    for (const each of tasks) each.clear();
    update(START);
  });
  update({});
  return () => clearTimeout(timer);
}

export default { render };
