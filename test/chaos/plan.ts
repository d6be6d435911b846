import { type SeededRandom, seededRandom } from './seeded-random.ts';

export const KINDS = [
  'app',
  'postgres',
  'worker',
  'supervisor',
  'child',
  'silence',
  'freeze',
  'damage',
  'disk',
] as const;
export type Kind = (typeof KINDS)[number];

/** Those that end a process with `kill -9`. */
export const KILLS: ReadonlySet<Kind> = new Set(['app', 'postgres', 'worker', 'supervisor', 'child']);

/** What a round is played on. */
export const SETTINGS = {
  /** The App with its own database. */
  embedded: ['app', 'postgres', 'supervisor', 'child', 'freeze', 'damage'],
  /** The App, and a database apart behind a proxy. */
  apart: ['app', 'postgres', 'supervisor', 'child', 'silence', 'freeze', 'damage'],
  /** An App that leads, a worker that works, and a database apart. */
  workers: ['app', 'postgres', 'worker', 'supervisor', 'child', 'silence', 'freeze', 'damage'],
  /** The App with its own database on a small disk. */
  disk: ['app', 'child', 'disk'],
} as const satisfies Record<string, readonly Kind[]>;
export type Setting = keyof typeof SETTINGS;

/** How often each is drawn beside the others, and how often each setting is. Our defaults. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  app: 3,
  postgres: 2,
  worker: 3,
  supervisor: 3,
  child: 5,
  silence: 1,
  freeze: 1,
  damage: 1,
  disk: 3,
};
const SETTING_WEIGHTS: Readonly<Record<Setting, number>> = { embedded: 4, apart: 3, workers: 4, disk: 1 };

export interface PlannedFault {
  readonly kind: Kind;
  /** It comes when the App has done so many further deeds, or after so many milliseconds, whichever is first. */
  readonly deeds: number;
  readonly afterMs: number;
  /** Draws for what there is to choose when it comes, from 0 to 999. */
  readonly draws: readonly [number, number, number];
  /** Milliseconds for which it lasts, where it lasts. */
  readonly ms: number;
}

export interface Plan {
  readonly setting: Setting;
  /** Runs that are at work at a time as long as faults are left. */
  readonly runsAtOnce: number;
  readonly faults: readonly PlannedFault[];
}

/** Faults of one round. A flow that was begun twenty times is given up, so they must not all be restarts. Our default. */
const FAULTS = { least: 12, most: 18 } as const;

/** What is done in a round, from its seed alone. */
export function planOf(seed: number, round: number, only: ReadonlySet<Kind>): Plan {
  const own = seededRandom(seed * 100_003 + round);
  const settings = (Object.keys(SETTINGS) as Setting[]).filter(
    (name) => SETTINGS[name].some((kind) => only.has(kind)) && (name !== 'disk' || only.has('disk')),
  );
  const setting = drawn(own, settings, SETTING_WEIGHTS);
  const kinds = SETTINGS[setting].filter((kind) => only.has(kind));
  const count = own.between(FAULTS.least, FAULTS.most);
  return {
    setting,
    runsAtOnce: own.between(2, 3),
    faults: Array.from({ length: count }, () => faultOf(own, drawn(own, kinds, WEIGHTS))),
  };
}

const faultOf = (own: SeededRandom, kind: Kind): PlannedFault => ({
  kind,
  deeds: own.between(1, 25),
  afterMs: own.between(50, 2_500),
  draws: [own.between(0, 999), own.between(0, 999), own.between(0, 999)],
  ms: own.between(200, 3_000),
});

function drawn<T extends string>(
  own: SeededRandom,
  all: readonly T[],
  weights: Readonly<Record<T, number>>,
): T {
  const [first] = all;
  if (first === undefined) throw new Error('There is nothing to draw from.');
  let at = own.between(
    1,
    all.reduce((sum, one) => sum + weights[one], 0),
  );
  for (const one of all) {
    at -= weights[one];
    if (at <= 0) return one;
  }
  return first;
}

/** The one that a draw from 0 to 999 chooses. */
export const chosen = <T>(all: readonly T[], draw: number): T | undefined =>
  all[Math.floor((draw / 1_000) * all.length)];
