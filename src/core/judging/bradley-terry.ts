import type { Alias } from '../model/index.ts';

/** One comparison. `y` is the score of `a`: 1 for a win, ½ for a tie, 0 for a loss. */
export interface Game {
  readonly a: Alias;
  readonly b: Alias;
  readonly y: number;
  readonly weight: number;
}

interface Strength {
  readonly alias: Alias;
  /** Log-odds; the mean over all is 0. */
  readonly theta: number;
  /** Standard error of `theta`, from the curvature at the maximum (Laplace). */
  readonly error: number;
}

interface BradleyTerryFit {
  /** In the order of `aliases`. */
  readonly strengths: readonly Strength[];
  /** How many standard errors `a` is ahead of `b`; 0 when they are equal. */
  margin(a: Alias, b: Alias): number;
  /** Variance of the difference of two strengths, from the curvature at the maximum; 0 for one and the same. */
  variance(a: Alias, b: Alias): number;
}

const MAX_ITERATIONS = 100;
const EPSILON = 1e-12;
const NO_PRIORS: ReadonlyMap<Alias, number> = new Map();

/**
 * Fits a Bradley-Terry model in one batch, with a tie as half a win for each: maximise Σ w [y log σ(θa−θb) + (1−y)
 * log σ(θb−θa)] − ½ Σ θ². Without the last term this is FastChat's sum (`rating_systems.py`). The ridge keeps the
 * estimates finite when one candidate wins everything and determines them when some pairs never met. It also makes
 * the maximum unique, so that Newton steps, halved when they overshoot, converge to the same result whatever the
 * order of the games. Ignores games with unknown aliases or without weight.
 *
 * The ridge is a normal prior with mean 0 and variance 1 for each strength; `priors` gives other means.
 */
export function bradleyTerry(
  aliases: readonly Alias[],
  games: readonly Game[],
  priors: ReadonlyMap<Alias, number> = NO_PRIORS,
): BradleyTerryFit {
  const { names, weights, theta } = maximum(aliases, games, priors);
  const n = names.length;
  const place = new Map(names.map((name, i) => [name, i] as const));
  const covariance = inverse(curvature(weights, theta));
  const mean = theta.reduce((sum, t) => sum + t, 0) / Math.max(1, n);
  const at = (alias: Alias) => place.get(alias) ?? -1;
  const variance = (a: Alias, b: Alias): number => {
    const [i, j] = [at(a), at(b)];
    if (i < 0 || j < 0 || i === j) return 0;
    return cell(covariance, i, i) + cell(covariance, j, j) - 2 * cell(covariance, i, j);
  };
  return {
    strengths: aliases.map((alias) => ({
      alias,
      theta: withoutRoundingError((theta[at(alias)] ?? 0) - mean),
      error: withoutRoundingError(Math.sqrt(cell(covariance, at(alias), at(alias)))),
    })),
    margin(a, b) {
      const spread = variance(a, b);
      if (spread === 0) return 0;
      return withoutRoundingError(((theta[at(a)] as number) - (theta[at(b)] as number)) / Math.sqrt(spread));
    },
    variance,
  };
}

/** Log-odds with mean 0 by alias, without their errors: for bootstraps, which need many fits. */
export function bradleyTerryStrengths(
  aliases: readonly Alias[],
  games: readonly Game[],
  priors: ReadonlyMap<Alias, number> = NO_PRIORS,
): ReadonlyMap<Alias, number> {
  const { names, theta } = maximum(aliases, games, priors);
  const mean = theta.reduce((sum, t) => sum + t, 0) / Math.max(1, names.length);
  return new Map(names.map((name, i) => [name, withoutRoundingError((theta[i] as number) - mean)]));
}

/** The maximum itself; `names` are sorted. */
function maximum(
  aliases: readonly Alias[],
  games: readonly Game[],
  priors: ReadonlyMap<Alias, number>,
): { readonly names: readonly Alias[]; readonly weights: Matrix; readonly theta: readonly number[] } {
  const names = [...new Set(aliases)].sort();
  const n = names.length;
  const place = new Map(names.map((name, i) => [name, i] as const));
  const weights = zeroMatrix(n);
  const points = zeroMatrix(n);
  for (const { a, b, y, weight } of games) {
    const [i, j] = [place.get(a), place.get(b)];
    if (i === undefined || j === undefined || i === j) continue;
    if (!(weight > 0) || !Number.isFinite(weight) || !(y >= 0 && y <= 1)) continue;
    addToCell(weights, i, j, weight);
    addToCell(weights, j, i, weight);
    addToCell(points, i, j, weight * y);
    addToCell(points, j, i, weight * (1 - y));
  }
  const theta = newton(
    weights,
    points,
    names.map((name) => priors.get(name) ?? 0),
  );
  return { names, weights, theta };
}

type Matrix = number[][];
const zeroMatrix = (n: number): Matrix => Array.from({ length: n }, () => new Array<number>(n).fill(0));
const cell = (matrix: Matrix, i: number, j: number): number => matrix[i]?.[j] ?? 0;
const addToCell = (matrix: Matrix, i: number, j: number, by: number): void => {
  (matrix[i] as number[])[j] = cell(matrix, i, j) + by;
};
/** Prevents rounding errors from the order of summation from separating two equal strengths. */
const withoutRoundingError = (x: number): number => Math.round(x * 1e9) / 1e9 + 0;

/** For large negative x, log σ(x) loses precision and approaches x. */
const logSigmoid = (x: number): number => (x < -30 ? x : -Math.log1p(Math.exp(-x)));
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function newton(weights: Matrix, points: Matrix, priors: readonly number[]): readonly number[] {
  let theta = priors;
  let value = objective(points, theta, priors);
  for (let step = 0; step < MAX_ITERATIONS; step++) {
    const slope = gradient(weights, points, theta, priors);
    const move = solveFor(curvature(weights, theta), slope);
    let by = 1;
    let next = stepped(theta, move, by);
    let reached = objective(points, next, priors);
    // Of a large sum, the last digits are rounding errors.
    const least = value - EPSILON * Math.max(1, Math.abs(value));
    for (; reached < least && by > EPSILON; by /= 2) {
      next = stepped(theta, move, by / 2);
      reached = objective(points, next, priors);
    }
    theta = next;
    value = reached;
    if (Math.max(0, ...move.map(Math.abs)) < EPSILON) break;
  }
  return theta;
}

const stepped = (theta: readonly number[], move: readonly number[], by: number): readonly number[] =>
  theta.map((t, i) => t + by * (move[i] as number));

function objective(points: Matrix, theta: readonly number[], priors: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < points.length; i++) {
    const row = points[i] as readonly number[];
    for (let j = 0; j < row.length; j++) {
      const y = row[j] as number;
      if (y > 0) sum += y * logSigmoid((theta[i] as number) - (theta[j] as number));
    }
  }
  return sum - 0.5 * theta.reduce((squares, t, i) => squares + (t - (priors[i] as number)) ** 2, 0);
}

const gradient = (
  weights: Matrix,
  points: Matrix,
  theta: readonly number[],
  priors: readonly number[],
): readonly number[] =>
  theta.map((t, i) =>
    theta.reduce(
      (sum, other, j) => sum + cell(points, i, j) - cell(weights, i, j) * sigmoid(t - other),
      (priors[i] as number) - t,
    ),
  );

/** The negative Hessian; positive definite because of the ridge. */
function curvature(weights: Matrix, theta: readonly number[]): Matrix {
  return theta.map((t, i) => {
    const row = weights[i] as readonly number[];
    let diagonal = 1;
    const bends = theta.map((other, j) => {
      const p = sigmoid(t - other);
      const bend = i === j ? 0 : (row[j] as number) * p * (1 - p);
      diagonal += bend;
      return -bend;
    });
    bends[i] = diagonal;
    return bends;
  });
}

/** Solves for a vector by Gaussian elimination; `matrix` is overwritten. Diagonally dominant, so without pivoting. */
function solveFor(matrix: Matrix, right: readonly number[]): readonly number[] {
  const n = right.length;
  const x = [...right];
  for (let i = 0; i < n; i++) {
    const pivot = matrix[i] as number[];
    for (let j = i + 1; j < n; j++) {
      const row = matrix[j] as number[];
      const factor = (row[i] as number) / (pivot[i] as number);
      if (factor === 0) continue;
      for (let k = i; k < n; k++) row[k] = (row[k] as number) - factor * (pivot[k] as number);
      x[j] = (x[j] as number) - factor * (x[i] as number);
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    const row = matrix[i] as number[];
    let sum = x[i] as number;
    for (let k = i + 1; k < n; k++) sum -= (row[k] as number) * (x[k] as number);
    x[i] = sum / (row[i] as number);
  }
  return x;
}

/** Gauss-Jordan elimination. The matrix is diagonally dominant, so no pivoting is needed. */
function inverse(matrix: Matrix): Matrix {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let i = 0; i < n; i++) {
    const pivot = rows[i] as number[];
    const scale = pivot[i] as number;
    for (let k = 0; k < pivot.length; k++) pivot[k] = (pivot[k] as number) / scale;
    for (let j = 0; j < n; j++) {
      const row = rows[j] as number[];
      const factor = row[i] as number;
      if (j === i || factor === 0) continue;
      for (let k = 0; k < row.length; k++) row[k] = (row[k] as number) - factor * (pivot[k] as number);
    }
  }
  return rows.map((row) => row.slice(n));
}
