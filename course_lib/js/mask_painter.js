import { causalMask, dot, maskedSoftmax, paddingMask, transpose, windowMask } from "./arithmetic.js";
import { choice, fixed } from "./controls.js";
import { button, explorer } from "./frame.js";
import { matrix } from "./matrix.js";
import { freshId, html, rich } from "./parts.js";

const TEXT = {
  en: {
    name: "Explorer: who may see whom?",
    sentence: "Sentence", whole: "whole", padded: "with padding", cache: "with a cache",
    ready: "Ready-made masks", all: "Everything", causal: "Causal", padding: "Padding", window: "Window of 2",
    weights: "Weights", how: "Click, drag, or press the space bar, to hide a key or show it.", corner: "query ↓ key →",
    visible: "visible", hidden: "hidden",
    row: (query) => `The row of “${query}”`,
    key: "key", score: "score", power: "e^score", weight: "weight", value: "value (who, how)", sum: "sum",
    output: (query) => `output of “${query}”`,
    nothing: (query) => `“${query}” sees nothing: its weights and its output are zero.`,
    said: (query, key, weight, out) => `“${query}” looks at “${key}” with ${weight}; output ${out}.`,
  },
  ko: {
    name: "탐색기: 누가 누구를 볼 수 있나요?",
    sentence: "문장", whole: "온전한 문장", padded: "패딩이 있는 문장", cache: "캐시가 있는 문장",
    ready: "미리 만든 마스크", all: "모두", causal: "인과", padding: "패딩", window: "너비 2의 윈도",
    weights: "가중치", how: "누르거나 끌거나 스페이스 바를 눌러 키를 가리고 드러냅니다.", corner: "쿼리 ↓ 키 →",
    visible: "보임", hidden: "가려짐",
    row: (query) => `‘${query}’ 행`,
    key: "키", score: "점수", power: "e^점수", weight: "가중치", value: "밸류 (누가, 어떻게)", sum: "합",
    output: (query) => `‘${query}’의 출력`,
    nothing: (query) => `‘${query}’에게는 보이는 것이 없습니다. 가중치와 출력이 0입니다.`,
    said: (query, key, weight, out) => `‘${query}’에서 ‘${key}’로 가는 가중치 ${weight}, 출력 ${out}.`,
  },
};

const pair = (numbers) => `(${numbers.join(", ")})`;
const everything = (board) => board.scores.map((row) => row.map(() => true));

// ---- Verdicts ---------------------------------------------------------------------

// Masks as rules: may query i see key j? A cache of 3 shifts the queries.
const RULES = {
  causal: {
    right: (i, j) => j <= i,
    "causal_mask/inverted": (i, j) => j > i,
    "causal_mask/diagonal-hidden": (i, j) => j < i,
    "causal_mask/one-too-high": (i, j) => j <= i + 1,
    "causal_mask/transposed": (i, j) => j >= i,
    "causal_mask/nothing-hidden": () => true,
    "causal_mask/only-itself": (i, j) => j === i,
  },
  padding: {
    right: (i, j) => j < 3,
    "padding_mask/inverted": (i, j) => j >= 3,
    "padding_mask/one-too-many": (i, j) => j <= 3,
    "padding_mask/one-too-few": (i, j) => j < 2,
    "padding_mask/left-padding": (i, j) => j >= 2,
    "padding_mask/pairs-of-places": (i, j) => i < 3 && j < 3,
    "masked_attention/query-rows-masked": (i) => i < 3,
    "masked_attention/always-causal": (i, j) => j <= i,
    "masked_attention/mask-ignored": () => true,
  },
  cache: {
    right: (i, j) => j <= i + 3,
    "causal_mask/inverted": (i, j) => j > i + 3,
    "causal_mask/diagonal-hidden": (i, j) => j < i + 3,
    "causal_mask/nothing-hidden": () => true,
    "top-left": (i, j) => j <= i,
    "newest-only": (i, j) => j >= 3 && j <= i + 3,
  },
};

function judgeMask(task, wanted, boards) {
  return ({ board, mask, byHand }) => {
    if (board !== wanted) return "board";
    const wrongIn = (rule) => mask.map((row, i) => row.filter((on, j) => on !== rule(i, j)).length);
    const key = Object.keys(RULES[task]).find((name) => wrongIn(RULES[task][name]).every((count) => !count));
    if (key) return key === "right" && !byHand ? "ready" : key;
    const wrong = wrongIn(RULES[task].right);
    const query = boards[board].queries[wrong.findIndex(Boolean)];
    return ["near", { count: wrong.reduce((a, b) => a + b), all: mask.flat().length, query }];
  };
}

function judgeShare({ board, mask }, { scores }) {
  if (board !== "whole") return "board";
  const sing = scores.findIndex((row) => row.includes(1) && row.includes(2));
  const birds = scores[sing].indexOf(1);
  if (!mask[sing][birds]) return "hidden";
  const weight = maskedSoftmax(scores[sing], mask[sing])[birds];
  if (Math.abs(weight - 0.73) < 0.005) return "right";
  return [weight < 0.73 ? "low" : "high", { weight: fixed(weight) }];
}

// ---- Parts ------------------------------------------------------------------------

// One row in numbers: score, power, weight and value of each key, and their sums.
function rowTable(board, t) {
  const caption = html("caption");
  const head = [t.key, t.score, t.power, t.weight, t.value].map((text) => html("th", { scope: "col" }, ...rich(text)));
  const lines = board.keys.map((key) => {
    const cells = [0, 1, 2, 3].map(() => html("td"));
    return { node: html("tr", {}, html("th", { scope: "row" }, key), ...cells), cells };
  });
  const sums = [0, 1, 2, 3].map(() => html("td"));
  const node = html("table", { class: "co-table" }, caption, html("thead", {}, html("tr", {}, ...head)),
    html("tbody", {}, ...lines.map((line) => line.node)),
    html("tfoot", {}, html("tr", {}, html("th", { scope: "row" }, t.sum), ...sums)));
  return {
    node,
    show(i, j, visible, weights) {
      caption.textContent = t.row(board.queries[i]);
      let total = 0;
      lines.forEach(({ node: line, cells }, k) => {
        const power = visible[k] ? Math.exp(board.scores[i][k]) : 0;
        total += power;
        line.toggleAttribute("data-lit", k === j);
        const texts = [visible[k] ? fixed(board.scores[i][k], 0) : "−∞", fixed(power), fixed(weights[k]), pair(board.values[k])];
        texts.forEach((text, c) => { cells[c].textContent = text; });
      });
      sums[1].textContent = fixed(total);
      sums[2].textContent = fixed(weights.reduce((a, b) => a + b));
    },
  };
}

// ---- The widget -------------------------------------------------------------------

const start = (model, lang) => ({
  board: "whole", mask: everything(model.get("boards").whole[lang]), at: [0, 0], byHand: true,
});

function build({ model, t, lang, update, state }) {
  const boards = Object.fromEntries(Object.entries(model.get("boards")).map(([name, each]) => [name, each[lang]]));
  const size = () => [boards[state.board].queries.length, boards[state.board].keys.length];

  const sentence = choice(t.sentence, { whole: t.whole, padded: t.padded, cache: t.cache }, (board) =>
    update({ board, mask: everything(boards[board]), at: [0, 0], byHand: true }));
  const masks = {
    all: () => everything(boards[state.board]),
    causal: () => causalMask(...size()),
    padding: () => paddingMask(size()[0], boards[state.board].keys.filter((key) => key !== "<pad>").length, size()[1]),
    window: () => windowMask(size()[0], 2, size()[1]),
  };
  const group = freshId("ready");
  const ready = html("div", { class: "co-group", role: "group", "aria-labelledby": group },
    html("span", { id: group }, t.ready), ...Object.entries(masks).map(([name, make]) =>
      button(t[name], () => update({ mask: make(), byHand: name === "all" }))));

  const place = html("div", { class: "mp-board" });
  const sum = html("p", { class: "mp-sum" });
  let shown, map, row;

  function lay(name) {
    if (shown === name) return;
    shown = name;
    const { queries, keys } = boards[name];
    map = matrix({
      caption: t.weights, corner: t.corner, rows: queries, columns: keys,
      onPoint: (i, j) => { if (String(state.at) !== String([i, j])) update({ at: [i, j] }); },
      onPaint: (i, j, on) => update({ at: [i, j], mask: state.mask.with(i, state.mask[i].with(j, on)) }),
    });
    row = rowTable(boards[name], t);
    place.replaceChildren(map.node, row.node);
  }

  const attend = ({ board, mask }) => boards[board].scores.map((scores, i) => maskedSoftmax(scores, mask[i]));
  const outputOf = (weights, board) => transpose(board.values).map((column) => fixed(dot(weights, column)));

  return {
    tools: [sentence.node, ready],
    body: [html("p", { class: "mp-how" }, t.how), place, sum],
    draw(now) {
      lay(now.board);
      sentence.show(now.board);
      const board = boards[now.board];
      const weights = attend(now);
      weights.forEach((line, i) => {
        map.darken(i, !now.mask[i].some(Boolean));
        line.forEach((weight, j) => {
          const on = now.mask[i][j];
          const [text, word] = on ? [fixed(weight), t.visible] : ["", t.hidden];
          map.show(i, j, { text, on, weight: on ? weight : null, name: `${board.queries[i]} → ${board.keys[j]}: ${text} ${word}` });
        });
      });
      const [i, j] = now.at;
      map.light(i, j);
      row.show(i, j, now.mask[i], weights[i]);
      const terms = board.keys.map((_, k) => k).filter((k) => now.mask[i][k]);
      const nothing = !terms.length;
      sum.toggleAttribute("data-dark", nothing);
      sum.replaceChildren(...(nothing ? [t.nothing(board.queries[i])] : [
        html("b", {}, t.output(board.queries[i])), " = ",
        ...terms.flatMap((k, n) => [n ? " + " : "", html("span", k === j ? { "data-lit": "" } : {},
          `${fixed(weights[i][k])} · ${pair(board.values[k])}`)]),
        " = ", html("b", {}, pair(outputOf(weights[i], board))),
      ]));
    },
    said(now) {
      const board = boards[now.board];
      const [i, j] = now.at;
      if (!now.mask[i].some(Boolean)) return t.nothing(board.queries[i]);
      const weights = attend(now)[i];
      return t.said(board.queries[i], board.keys[j], now.mask[i][j] ? fixed(weights[j]) : t.hidden, pair(outputOf(weights, board)));
    },
    tasks: {
      causal: judgeMask("causal", "whole", boards),
      padding: judgeMask("padding", "padded", boards),
      cache: judgeMask("cache", "cache", boards),
      share: (now) => judgeShare(now, boards.whole),
    },
  };
}

export default explorer("mask-painter", TEXT, start, build);
