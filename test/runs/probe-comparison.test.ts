import { expect, test } from 'vitest';
import type { ProbeRun } from '../../src/core/evidence/index.ts';
import { compareCandidates } from '../../src/runs/examine/probe-comparison.ts';
import type { Tree } from '../../src/runs/examine/trees.ts';
import { partial } from '../world/partial.ts';
import { survivor } from './peer-tests-world.ts';

const gave = (text?: string): ProbeRun => ({
  observations: new Map(
    text === undefined ? [] : [['one', { kind: 'value', text, input: 'f(1)', variation: 'near' }]],
  ),
  cases: new Map(),
});

const behaviourOf = (runs: Readonly<Record<string, ProbeRun>>, onBase: ProbeRun) => {
  const ready = Object.keys(runs).map((alias) => {
    const { patch: _, ...one } = survivor(alias);
    return { ...one, candidate: { ...one.candidate, family: alias }, tree: partial<Tree>({}) };
  });
  const byTree = new Map(ready.map(({ candidate, tree }) => [tree, runs[candidate.alias] ?? null]));
  const derived = { files: [], unused: [], values: [] };
  return compareCandidates(ready, derived, [onBase, onBase], byTree).behaviour;
};

test('nothing is said of the behaviour of a candidate on which no input gave a result', () => {
  const behaviour = behaviourOf({ A: gave('new'), B: gave(), C: gave('old') }, gave('old'));
  expect([...behaviour.keys()]).toEqual(['A', 'C']);
});
