import { describe, expect, test } from 'vitest';
import {
  type Evidence,
  filesToCompare,
  findTampering,
  type GateReport,
  staticGates,
} from '../../src/core/evidence/index.ts';
import type { Patch } from '../../src/core/patches/index.ts';
import { decide, type RankingOptions, rank } from '../../src/core/ranking/index.ts';
import { patchBetween, type Tree } from '../core/git.ts';
import { behaving, by, candidate, independentTests } from '../core/ranking/sample.ts';
import { syntaxOf } from '../core/syntax.ts';
import type { Cheat } from './cheats/cheat.ts';
import { JS_CHEATS } from './cheats/js.ts';
import { PYTHON_CHEATS } from './cheats/python.ts';
import { TS_CHEATS } from './cheats/ts.ts';

const HOW: RankingOptions = {
  weights: { tests: 50, simplicity: 30, speed: 20 },
  strategies: ['evidence', 'judges'],
};

/** All cheats as one patch, each in a folder of its own: git is asked once. */
function patchesOf(cheats: readonly Cheat[]): readonly { readonly cheat: Cheat; readonly patch: Patch }[] {
  const inFolder = (tree: Tree, i: number) =>
    Object.entries(tree).map(([path, entry]) => [`c${i}/${path}`, entry] as const);
  const whole = patchBetween(
    Object.fromEntries(cheats.flatMap(({ before }, i) => inFolder(before, i))),
    Object.fromEntries(cheats.flatMap(({ after }, i) => inFolder(after, i))),
  );
  return cheats.map((cheat, i) => {
    const own = (files: Patch['files']) => files.filter(({ path }) => path.startsWith(`c${i}/`));
    const patch = { ...whole, files: own(whole.files), production: own(whole.production), tests: [] };
    return { cheat, patch };
  });
}

async function examined({ before }: Cheat, patch: Patch) {
  const texts = Object.fromEntries(
    filesToCompare(patch).flatMap((path) => {
      const text = before[path.replace(/^c\d+\//, '')];
      return typeof text === 'string' ? [[path, text]] : [];
    }),
  );
  const syntax = await syntaxOf(patch, texts);
  const findings = findTampering(patch, texts, { syntax });
  return { findings, gates: staticGates(patch, { protect: [] }, { baseTexts: texts, syntax }) };
}

/** The cheat passes everything that is executed, more than all others do. */
function evidenceOfCheat(gates: readonly GateReport[]): Evidence {
  const looks = candidate('A', {
    peerTests: [by('B', 3, 3)],
    independentTests: independentTests(5, 0),
    behaviour: behaving(1),
    agreement: 1,
  });
  const all = looks.gates.map((gate) => gates.find((own) => own.gate === gate.gate) ?? gate);
  return { ...looks, gates: all, survivor: all.every(({ passed }) => passed) };
}

const rivals = ['B', 'C', 'D', 'E'].map((alias, i) =>
  candidate(alias, {
    independentTests: independentTests(5 - i, i),
    behaviour: behaving(0.5),
    agreement: 0.5,
  }),
);

describe.each([
  ['JavaScript', JS_CHEATS],
  ['TypeScript', TS_CHEATS],
  ['Python', PYTHON_CHEATS],
])('no cheat is picked without being named: %s', (_, cheats) => {
  test.each(patchesOf(cheats))('$cheat.name', async ({ cheat, patch }) => {
    const { findings, gates } = await examined(cheat, patch);
    const named = findings.filter(({ kind }) => kind === cheat.named);
    expect(named).not.toEqual([]);
    expect(named.some(({ severity }) => severity === 'gate')).toBe(cheat.rejected);
    expect(named[0]?.hunk).toMatch(/^\+/m);
    const report = gates.find(({ gate }) => gate === 'untampered');
    expect(report?.because).toContain(named[0]?.path);
    const own = evidenceOfCheat(gates);
    for (const others of [1, 2, 4]) {
      const field = [own, ...rivals.slice(0, others)];
      const decision = decide(rank(field, HOW), field);
      if (cheat.rejected) expect(JSON.stringify(decision)).not.toContain('"alias":"A"');
      expect(decision.kind === 'winner' && decision.alias === 'A' && cheat.rejected).toBe(false);
      // A cheat that an honest program may contain, too, is left to a person who looks at its lines.
      if (decision.kind === 'winner' && decision.alias === 'A') expect(decision.confidence).toBe('likely');
    }
  });
});
