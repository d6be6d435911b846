/** A beta distribution by its two counts, both above 0. */
export interface Beta {
  readonly a: number;
  readonly b: number;
}

export const meanOf = ({ a, b }: Beta): number => a / (a + b);

/** From here on Stirling's series is exact to twelve digits. */
const STIRLING_FROM = 10;

/** Natural logarithm of the gamma function, for x > 0: Stirling's series, after the recurrence for small x. */
function logGamma(x: number): number {
  if (x < STIRLING_FROM) return logGamma(x + 1) - Math.log(x);
  const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}

/** Natural logarithm of the beta function. */
export const logBeta = (a: number, b: number): number => logGamma(a) + logGamma(b) - logGamma(a + b);

const MAX_TERMS = 300;
const TINY = 1e-300;
const CONVERGED = 1e-12;

/** The continued fraction of the incomplete beta function, by Lentz' method (Numerical Recipes, 6.4). */
function continuedFraction(x: number, { a, b }: Beta): number {
  const away = (value: number): number => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    const step = d * c;
    result *= step;
    if (Math.abs(step - 1) < CONVERGED) break;
  }
  return result;
}

/** The probability of a value of at most `x`, in [0, 1]. */
export function cumulative(x: number, { a, b }: Beta): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta(a, b));
  return x < (a + 1) / (a + b + 2)
    ? (front * continuedFraction(x, { a, b })) / a
    : 1 - (front * continuedFraction(1 - x, { a: b, b: a })) / b;
}

/** Halvings of [0, 1] until a quantile is exact to more digits than anybody reads. */
const HALVINGS = 40;

/** The value below which a share of the distribution lies. */
export function quantile(share: number, beta: Beta): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (cumulative(middle, beta) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** A draw from a beta distribution, from two gamma draws. `random` gives numbers in [0, 1). */
export function draw({ a, b }: Beta, random: () => number): number {
  const [x, y] = [drawGamma(a, random), drawGamma(b, random)];
  return x + y > 0 ? x / (x + y) : a / (a + b);
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000). */
function drawGamma(shape: number, random: () => number): number {
  if (shape < 1) return drawGamma(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * normal) ** 3;
    if (v <= 0) continue;
    if (Math.log(1 - random()) < 0.5 * normal * normal + d - d * v + d * Math.log(v)) return d * v;
  }
}
