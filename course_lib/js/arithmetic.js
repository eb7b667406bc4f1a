// The arithmetic of the explorers, apart from what they draw. Nothing here touches
// the page; a test compares each function with PyTorch in a real browser.
// A matrix is a list of rows: x[i][j]. A mask is a matrix of true and false, and true
// means may attend.

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const range = (length) => Array.from({ length }, (_, i) => i);

export const mean = (numbers) => sum(numbers) / numbers.length;
export const dot = (a, b) => sum(a.map((x, i) => x * b[i]));

// ---- Matrices ---------------------------------------------------------------------

export const transpose = (a) => a[0].map((_, j) => a.map((row) => row[j]));

export function matmul(a, b) {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
}

// ---- Softmax ----------------------------------------------------------------------

// Weights of one row: the softmax of its scores divided by `divisor`, safe at any size.
export function softmax(scores, divisor = 1) {
  const scaled = scores.map((score) => score / divisor);
  const top = Math.max(...scaled);
  const powers = scaled.map((score) => Math.exp(score - top));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

// The same over the visible keys alone; a row that sees nothing gets zeros.
export function maskedSoftmax(scores, visible) {
  if (!visible.some(Boolean)) return scores.map(() => 0);
  return softmax(scores.map((score, j) => (visible[j] ? score : -Infinity)));
}

// Entropy in nats: 0 when one key has everything, log(n) for n equal weights.
export function entropy(weights) {
  return sum(weights.map((w) => (w > 0 ? -w * Math.log(w) : 0)));
}

// How much each weight moves with its own score: the diagonal of the Jacobian.
export function slopes(weights) {
  return weights.map((w) => w * (1 - w));
}

// Norm of the Jacobian diag(w) - w wᵀ, the root of the sum of all squared entries,
// which is Σw² - 2Σw³ + (Σw²)². Rounding may take that below 0.
export function jacobianNorm(weights) {
  const squares = sum(weights.map((w) => w ** 2));
  const cubes = sum(weights.map((w) => w ** 3));
  return Math.sqrt(Math.max(squares - 2 * cubes + squares ** 2, 0));
}

// ---- Attention --------------------------------------------------------------------

// Each mask says at row i, column j whether query i may see key j. The last query
// stands at the last key.
export const causalMask = (queries, keys = queries) =>
  range(queries).map((i) => range(keys).map((j) => j <= i + keys - queries));
export const windowMask = (queries, width, keys = queries) =>
  range(queries).map((i) => range(keys).map((j) => {
    const back = i + keys - queries - j;
    return back >= 0 && back < width;
  }));
export const paddingMask = (queries, length, keys = queries) =>
  range(queries).map(() => range(keys).map((j) => j < length));

// Scaled dot-product attention: query (Tq, d_k), key (Tk, d_k), value (Tk, d_v).
export function attention(query, key, value, mask = null) {
  const root = Math.sqrt(key[0].length);
  const scores = matmul(query, transpose(key)).map((row) => row.map((x) => x / root));
  const weights = scores.map((row, i) => (mask ? maskedSoftmax(row, mask[i]) : softmax(row)));
  return { scores, weights, output: matmul(weights, value) };
}

// ---- Positions --------------------------------------------------------------------

const BASE = 10000;

// One angle for each pair of channels, from fast to slow.
export const angles = (position, width) =>
  range(Math.ceil(width / 2)).map((i) => position / BASE ** ((2 * i) / width));

// Sines and cosines by turns; an odd width drops the last cosine.
export const sinusoidal = (length, width) =>
  range(length).map((position) =>
    angles(position, width).flatMap((a) => [Math.sin(a), Math.cos(a)]).slice(0, width));

// Turn each pair of channels (2i, 2i + 1) by the angle of its position: x (T, d).
export const rotary = (x, offset = 0) =>
  x.map((row, t) => angles(offset + t, row.length).flatMap((a, i) => {
    const [u, v] = [row[2 * i], row[2 * i + 1]];
    return [u * Math.cos(a) - v * Math.sin(a), u * Math.sin(a) + v * Math.cos(a)];
  }));

// ---- Heads ------------------------------------------------------------------------

// (T, D) -> (H, T, D / H), and back.
export function splitHeads(x, heads) {
  const width = x[0].length / heads;
  return range(heads).map((h) => x.map((row) => row.slice(h * width, (h + 1) * width)));
}
export const mergeHeads = (heads) => heads[0].map((_, t) => heads.flatMap((head) => head[t]));

// Project, split, attend in each head, merge, project: x (T, D), matrices (D, D).
export function multiHead(x, { W_q, W_k, W_v, W_o }, heads, mask = null) {
  const [query, key, value] = [W_q, W_k, W_v].map((W) => splitHeads(matmul(x, W), heads));
  const each = query.map((_, h) => attention(query[h], key[h], value[h], mask));
  const merged = mergeHeads(each.map(({ output }) => output));
  return { heads: each, merged, output: matmul(merged, W_o) };
}
