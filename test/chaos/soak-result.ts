import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, release, type } from 'node:os';
import { join } from 'node:path';
import { withSoak } from '../world/reliability.ts';
import { KILLS, KINDS, type Kind } from './plan.ts';

export interface Result {
  readonly at: Date;
  readonly seed: number;
  readonly minutes: number;
  readonly rounds: number;
  readonly runs: number;
  readonly kills: number;
  readonly faults: ReadonlyMap<Kind, number>;
  readonly lost: readonly { readonly round: number; readonly what: readonly string[] }[];
}

const WHAT: Readonly<Record<Kind, string>> = {
  app: 'The App is killed and started anew.',
  postgres: 'Postgres is killed: one of its processes, or the whole server.',
  worker: 'A worker is killed and started anew.',
  supervisor: 'What holds a sandbox together is killed (bwrap, unshare).',
  child: 'Any other child is killed: git, flock, agents, tests, shells.',
  silence:
    'The database is silent in one direction or both, refuses, resets, is slow, or is cut in a message.',
  freeze: 'A process is frozen for up to three seconds: App, worker, Postgres, a child.',
  damage:
    'A file of a mirror, a checkout, a layer, the trees of candidates, or an artifact is truncated or removed.',
  disk: 'The disk of the data folder is full for up to three seconds.',
};

/** The section of docs/reliability.md. */
export function sectionOf(result: Result): string {
  const { at, seed, minutes, rounds, runs, kills, faults, lost } = result;
  const rows = KINDS.filter((kind) => faults.has(kind)).map(
    (kind) => `| \`${kind}\` | ${WHAT[kind]} | ${faults.get(kind)}${KILLS.has(kind) ? '' : ' (no kill)'} |`,
  );
  const outcome =
    lost.length === 0
      ? 'Nothing was lost, nothing doubled, nothing paid twice.'
      : `In ${lost.length} of ${rounds} rounds something was lost: ${lost.map(({ round }) => `round ${round}`).join(', ')}.`;
  return [
    `On ${at.toISOString().slice(0, 10)}, \`npm run chaos -- --seed ${seed}\`: **${kills} kills** in ${minutes.toFixed(0)} minutes, in ${rounds} rounds of ${runs} runs together, on ${availableParallelism()} cores (${type()} ${release()}). ${outcome}`,
    '',
    '| kind | what was done | times |',
    '|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Writes the result over that of the last time. */
export async function writeResult(result: Result): Promise<void> {
  const file = join(import.meta.dirname, '../../docs/reliability.md');
  await writeFile(file, withSoak(await readFile(file, 'utf8'), sectionOf(result)));
}
