import { uniqueSorted } from '../model/index.ts';
import type { TestOutcome, TestRun } from './evidence.ts';
import { type Need, needOf } from './needs.ts';
import { type Silence, silenceOf } from './silence.ts';

/** Base tests that count for nothing, with one reason in common. */
export interface SetAside {
  /** What they lack, as their output shows; `failing`: anything else. */
  readonly because: Need | 'failing';
  readonly count: number;
  /** Sorted; the first few. */
  readonly names: readonly string[];
}

/** What the tests of the base gave on the base commit, for people. Plain JSON, bounded. */
export interface BaseFacts {
  /** Absent where the tests tell something. */
  readonly silence?: Silence;
  /** Why it was stopped; absent where it was not. */
  readonly stopped?: NonNullable<TestRun['stopped']>;
  readonly exitCode: number | null;
  /** Tests that pass, and all that passed or failed; 0 without a report. */
  readonly passed: number;
  readonly total: number;
  /** Tests that fail on the base, the largest group first. */
  readonly aside: readonly SetAside[];
  /** The lines of a silent command's output that say why. */
  readonly lines: readonly string[];
  /** What a silent command lacks, as its output shows. */
  readonly need?: Need;
}

/** Names that are kept of each group. */
const MAX_NAMES = 3;
/** Characters of one name. */
const MAX_NAME = 100;

export function baseFacts(base: TestRun): BaseFacts {
  const silence = silenceOf(base);
  const need = silence === null ? null : needOf([...(base.errors ?? []), base.tail].join('\n'));
  const outcomes = Object.values(base.tests);
  const count = (outcome: TestOutcome) => outcomes.filter((one) => one === outcome).length;
  return {
    ...(silence === null ? {} : { silence }),
    ...(base.stopped ? { stopped: base.stopped } : {}),
    exitCode: base.exitCode,
    passed: count('passed'),
    total: count('passed') + count('failed'),
    aside: setAside(base),
    lines: silence === null ? [] : (base.errors ?? []),
    ...(need === null ? {} : { need }),
  };
}

function setAside(base: TestRun): readonly SetAside[] {
  const said = new Map(Object.entries(base.messages ?? {}));
  const groups = new Map<SetAside['because'], string[]>();
  for (const [id, outcome] of Object.entries(base.tests)) {
    if (outcome !== 'failed') continue;
    const because = needOf(said.get(id) ?? '') ?? 'failing';
    groups.set(because, [...(groups.get(because) ?? []), id]);
  }
  return [...groups]
    .map(([because, ids]) => ({
      because,
      count: ids.length,
      names: uniqueSorted(ids)
        .slice(0, MAX_NAMES)
        .map((id) => id.slice(0, MAX_NAME)),
    }))
    .toSorted((a, b) => b.count - a.count || (a.because < b.because ? -1 : 1));
}
