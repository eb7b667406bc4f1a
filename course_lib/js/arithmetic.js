// The arithmetic of the explorers, apart from what they draw. Nothing here touches
// the page; a test compares each function with PyTorch in a real browser.

// Weights of one row: the softmax of its scores divided by `divisor`, safe at any size.
export function softmax(scores, divisor = 1) {
  const scaled = scores.map((score) => score / divisor);
  const top = Math.max(...scaled);
  const powers = scaled.map((score) => Math.exp(score - top));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

// Entropy in nats: 0 when one key has everything, log(n) for n equal weights.
export function entropy(weights) {
  return weights.reduce((sum, w) => sum - (w > 0 ? w * Math.log(w) : 0), 0);
}

// How much each weight moves with its own score: the diagonal of the Jacobian.
export function slopes(weights) {
  return weights.map((w) => w * (1 - w));
}

// Norm of the Jacobian diag(w) - w wᵀ: the root of the sum of all squared entries.
export function jacobianNorm(weights) {
  let sum = 0;
  weights.forEach((a, i) => {
    weights.forEach((b, j) => {
      sum += ((i === j ? a : 0) - a * b) ** 2;
    });
  });
  return Math.sqrt(sum);
}

export function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
