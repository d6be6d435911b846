import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/core/evidence/index.ts';
import type { Files } from '../adapters/git/world.ts';
import { NODE_TEST, openSharedFixture, type SharedFixture } from './examination-world.ts';

const suite = (name: string, ...lines: readonly string[]): Files => ({
  [`test/${name}.test.js`]: [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    ...lines,
    '',
  ].join('\n'),
});
const sum = (body: string): Files => ({ 'src/sum.js': `export const sum = (list) => ${body};\n` });
const REPOSITORY: Files = {
  'package.json': '{ "type": "module" }\n',
  ...sum('list.reduce((a, b) => a + b)'),
  'src/slug.js': "export const slug = (text) => text.toLowerCase().replaceAll(' ', '-');\n",
  ...suite(
    'sum',
    "import { sum } from '../src/sum.js';",
    "test('adds two', () => assert.equal(sum([1, 2]), 3));",
  ),
  ...suite(
    'slug',
    "import { slug } from '../src/slug.js';",
    "test('joins words', () => assert.equal(slug('Two Words'), 'two-words'));",
  ),
};
const RIGHT = sum('list.reduce((a, b) => a + b, 0)');
const HASTY = sum('list.length === 0 ? null : list.reduce((a, b) => a + b)');
/** Its test disturbs everything that shares its process. */
const DISTURBING: Files = {
  ...RIGHT,
  ...suite(
    'empty',
    "import { sum } from '../src/sum.js';",
    "test('of nothing is zero', () => assert.equal(sum([]), 0));",
    "String.prototype.replaceAll = () => 'disturbed';",
  ),
};
const ISSUE = 'The sum of nothing fails\n\n```js\nassert.equal(sum([]), 0);\n```\n';

/** What probes contribute. */
const probed = ({ behaviour, independentTests, unmetExamples, gates }: Evidence) => ({
  ...{ behaviour, independentTests, unmetExamples },
  isSteady: gates.find(({ gate }) => gate === 'steady')?.passed,
});

describe('probes of tests that Node runs', () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture({ probes: true });
  });
  afterAll(() => shared.close());

  /** The evidence, and by area the number of processes that ran the files of the base and those of candidates. */
  async function examined(files: Files, candidates: Readonly<Record<string, Files>>, command = NODE_TEST) {
    const commands = new Map<string, string>();
    const fixture = await shared.fixture({
      files,
      asked: ISSUE,
      test: command,
      exec(spec, real) {
        const isRun = spec.argv.some((word) => word.endsWith('/checks/probes/run.mjs'));
        if (isRun && typeof spec.stdin === 'string')
          commands.set(spec.area.id.replace(/^r\d+-x-/, ''), JSON.parse(spec.stdin).command);
        return real(spec);
      },
    });
    const evidence = await fixture.examine(await fixture.base(), candidates);
    const together = [...commands].flatMap(([id, text]) => (/isolation=none/.test(text) ? [id] : []));
    return {
      found: Object.fromEntries(Object.entries(evidence).map(([alias, one]) => [alias, probed(one)])),
      commands,
      together: together.sort(),
      apart: [...commands.keys()].filter((id) => !together.includes(id)).sort(),
    };
  }

  const APART = `${NODE_TEST} --test-isolation=process`;

  test('run in few processes after a run of the base showed no difference, and find the same', async () => {
    const candidates = { A: DISTURBING, B: HASTY, C: RIGHT };
    const few = await examined(REPOSITORY, candidates);
    expect(few.apart).toEqual(['probe-1', 'probe-1-added-1']);
    // A and C have the same tree. Files of candidates do not run in other surroundings.
    expect(few.together).toEqual(
      [
        ...['A-probe', 'A-probe-added-1', 'B-probe', 'B-probe-added-1', 'probe-2', 'probe-2-added-1'],
        ...['probe-there-B-1', 'probe-there-C-1', 'probe-there-base'],
      ].sort(),
    );
    // No process and no sandbox has code of two authors.
    const filesIn = (id: string) => (few.commands.get(id) ?? '').split('set -- ').slice(1);
    expect(filesIn('B-probe')).toEqual([
      expect.stringMatching(/^'?test\/sum\.test\.js'? '?test\/slug\.test\.js'?;/),
    ]);
    expect(filesIn('B-probe-added-1')).toEqual([expect.stringMatching(/^'?test\/derived-\d+\.test\.js'?;/)]);
    const many = await examined(REPOSITORY, candidates, APART);
    expect(many.together).toEqual([]);
    expect(few.found).toEqual(many.found);
    expect(few.found.A?.behaviour).toBeDefined();
    expect(few.found.A?.independentTests).not.toEqual(few.found.B?.independentTests);
  });

  test('run in a process for each file where those of the base disturb each other', async () => {
    const leaving = (body: string): Files => ({
      'src/sum.js': `globalThis.isLoaded = true;\n${sum(body)['src/sum.js']}`,
    });
    const files: Files = {
      ...REPOSITORY,
      'src/slug.js':
        "export const slug = (text) => text.toLowerCase().replaceAll(globalThis.isLoaded ? 'w' : ' ', '-');\n",
      ...leaving('list.reduce((a, b) => a + b)'),
    };
    const candidates = { A: leaving('list.reduce((a, b) => a + b, 0)'), B: HASTY };
    const one = await examined(files, candidates);
    expect(one.together).toEqual(['probe-2']);
    expect(one.apart).toEqual(expect.arrayContaining(['A-probe', 'B-probe', 'probe-1', 'probe-3']));
    expect(one.found).toEqual((await examined(files, candidates, APART)).found);
  });

  test('run again for each file where one of them ends the process', async () => {
    const ends = { 'src/slug.js': 'process.exit(0);\nexport const slug = () => 1;\n' };
    const candidates = { A: RIGHT, B: { ...HASTY, ...ends } };
    const one = await examined(REPOSITORY, candidates);
    expect(one.apart).toEqual(['B-probe-apart', 'probe-1']);
    expect(one.found).toEqual((await examined(REPOSITORY, candidates, APART)).found);
  });
});
