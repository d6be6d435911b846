import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProbeBench, type ProbeBench, seenFor } from './bench.ts';

describe('inputs that hang', () => {
  let bench: ProbeBench;
  beforeAll(async () => {
    bench = await openProbeBench();
  });
  afterAll(() => bench.close());

  const CASES = [20, 21, 22, 23, 24, 25, 26, 27];
  const treeOf = (body: string) => ({
    'package.json': '{"type":"module"}',
    'sum.js': `export const sum = (n) => ${body};\n`,
    'test/sum.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { sum } from '../sum.js';

${CASES.map((n) => `test('up to ${n}', () => assert.equal(sum(${n}), ${n}));`).join('\n')}
`,
  });
  const TESTS = ['test/sum.test.js'];
  const limits = { variantMs: 150 };

  test('with a large number of one patch leave the other patches and cases their inputs', async () => {
    const files = treeOf('{ let at = 0; while (at < n) at += 1; return at; }');
    const changed = ['+ const MOST = 50_000;\n+ const LEAST = 7000000000000;', '+ if (n > 4321) throw n;'];
    const derived = await bench.derive(files, { tests: TESTS, changed });
    const ran = await bench.run(files, derived, { limits });
    expect([...ran.cases.values()]).toEqual(CASES.map(() => 'passed'));
    expect(seenFor(ran, 'sum(4322)')).toBe('4322');
    expect(ran.output).toMatchObject({ ended: 'done', cut: null });
    expect(ran.output.avoided.toSorted()).toEqual(['6999999999999', '7000000000000', '7000000000001']);
    expect(ran.cut).toBe(true);
    // A candidate's tree is not given what was too much for the base.
    const again = await bench.run(files, derived, { limits, avoid: ran.output.avoided });
    expect([...again.observations.values()].filter(({ kind }) => kind === 'stuck')).toEqual([]);
  });

  test.each([
    ['hang', 'n > 27 ? (() => { for (;;); })() : n', limits, 'restarts'],
    [
      'take long',
      'n > 27 ? (() => { for (const end = Date.now() + 250; Date.now() < end; ); return n; })() : n',
      { wallMs: 9_000 },
      'late',
    ],
  ] as const)(
    'leave the unchanged cases their time, if they %s whatever they are',
    async (_, body, most, cut) => {
      const files = treeOf(body);
      const derived = await bench.derive(files, { tests: TESTS });
      const ran = await bench.run(files, derived, { limits: most });
      expect([...ran.cases.values()]).toEqual(CASES.map(() => 'passed'));
      expect(ran.output).toMatchObject({ ended: 'done', cut });
      expect(ran).not.toHaveProperty('late');
    },
  );

  test('are ended before the memory of the sandbox is used up', async () => {
    const files = treeOf('(Buffer.alloc(n > 999 ? 1e6 * n : 1, 1), n)');
    const derived = await bench.derive(files, { tests: TESTS, changed: ['+ const MOST = 3000;'] });
    const ran = await bench.run(files, derived, { limits: { memoryBytes: 4e8, variantMs: 60_000 } });
    expect([...ran.cases.values()]).toEqual(CASES.map(() => 'passed'));
    const stuck = [...ran.observations.values()].filter(({ kind }) => kind === 'stuck');
    expect(stuck.map(({ input }) => input).join()).toMatch(/\b(?:2999|300[01])\b/);
  });

  test('with a large number of one patch do so in Python, too', async () => {
    const files = {
      'sum.py': 'def upto(n):\n    at = 0\n    while at < n:\n        at += 1\n    return at\n',
      'test_sum.py': `import unittest
from sum import upto


class TestSum(unittest.TestCase):
${CASES.map((n) => `    def test_${n}(self):\n        self.assertEqual(upto(${n}), ${n})\n`).join('\n')}`,
    };
    const changed = ['+ LEAST = 7000000000000', '+ if n > 4321: raise n'];
    const derived = await bench.derive(files, { tests: ['test_sum.py'], changed });
    const command = 'python3 -m unittest test_sum';
    const ran = await bench.run(files, derived, { command, limits });
    expect([...ran.cases.values()]).toEqual(CASES.map(() => 'passed'));
    expect(seenFor(ran, 'upto(4322)')).toBe('4322');
    expect(ran.output.ended).toBe('done');
  });
});
