import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProbeBench, outcomesOf, type ProbeBench, seenFor } from './bench.ts';

const SLUG = `export const slug = (text) => text.toLowerCase().replace(/ /, '-');
export const words = (text) => text.split(' ').length;
`;
const FIXED = SLUG.replace('/ /', '/ /g');
const SLUG_TEST = `import assert from 'node:assert';
import { test } from 'node:test';
import { slug } from '../slug.js';

test('one word', () => {
  assert.equal(slug('Hello'), 'hello');
});
`;
const REPOSITORY = { 'package.json': '{"type":"module"}', 'slug.js': SLUG, 'test/slug.test.js': SLUG_TEST };
const TESTS = ['test/slug.test.js'];

describe('probes', () => {
  let bench: ProbeBench;
  beforeAll(async () => {
    bench = await openProbeBench();
  });
  afterAll(() => bench.close());

  test('examples of the issue fail on the base and pass on a fix', async () => {
    const issue = `# Only the first space is replaced

\`\`\`js
assert.equal(slug('a b c'), 'a-b-c');
\`\`\`

\`slug('x y z')\` returns \`'x-y z'\` but should return \`'x-y-z'\`.
And slug('l m n') returns 'l-m n' but should return 'l-m-n'.

\`\`\`
> slug('o p q')
'o-p-q'
\`\`\`

| Input | Output |
| ----- | ------ |
| Two Words Here | two-words-here |
| One | one |
`;
    const derived = await bench.derive(REPOSITORY, { issue, tests: TESTS });
    expect(derived.unused).toEqual([]);
    const [base, fixed] = [
      await bench.run(REPOSITORY, derived),
      await bench.run({ ...REPOSITORY, 'slug.js': FIXED }, derived),
    ];
    const failed = ['failed', 'failed', 'failed', 'failed', 'failed', 'passed'];
    expect(outcomesOf(derived, base).toSorted()).toEqual(failed);
    expect(outcomesOf(derived, fixed)).toEqual(failed.map(() => 'passed'));
    expect(outcomesOf(derived, base, 'base')).toEqual(['passed']);
  });

  test('code that is indented is read for examples, and of two results the one that is expected', async () => {
    const issue = `# Only the first space is replaced

    slug('a b c')  // was 'a-b c', expected 'a-b-c'
    slug('d e f'); // returns 'd-e f' (should be 'd-e-f')

1. Not code

    slug('Hello') // => 'no'
`;
    const derived = await bench.derive(REPOSITORY, { issue, tests: TESTS });
    const outcomes = async (code: string) =>
      outcomesOf(derived, await bench.run({ ...REPOSITORY, 'slug.js': code }, derived));
    expect([await outcomes(SLUG), await outcomes(FIXED)]).toEqual([['failed'], ['passed']]);
  });

  /** The examples of an issue, each with whether its words say that it is meant. */
  async function readIn(issue: string) {
    const derived = await bench.derive(REPOSITORY, { issue, tests: TESTS });
    const read = derived.files.flatMap(({ cases }) =>
      cases.flatMap(({ origin, isMeant, source }) =>
        origin === 'issue' ? source.match(/__p\.\w+\(.*\)/g)?.map((one) => [one, isMeant === true]) : [],
      ),
    );
    return read.toSorted();
  }

  test('what an issue only tells is no requirement, and what must not be is no example', async () => {
    const issue = `# Only the first space is replaced

\`slug('a b c')\` returns \`'a-b c'\`, and \`slug('b c')\` should not return \`'b-c'\`.
\`slug('c d')\` currently returns \`'c-d'\`. \`slug('d e')\` must never be \`'d-e'\`. \`slug(1)\` throws \`TypeError\`.
\`slug('e f')\` should work but returns \`'e-f'\`.

\`\`\`js
slug('f g h'); // gives 'f-g h' instead of 'f-g-h'
slug('g h i'); // => 'g-h i' <- bug
slug('h i j'); // should be 'h-i-j'
\`\`\`

\`\`\`
> slug('i j k')
'i-j k'
\`\`\`

Unexpected: \`'i-j k'\`

| Input | Output now | Expected output |
| ----- | ---------- | --------------- |
| Two Words Here | two-words here | two-words-here |
| One | one | one |
`;
    expect(await readIn(issue)).toEqual(
      [
        ["__p.same(slug('a b c'), 'a-b c')", false],
        ["__p.same(slug('e f'), 'e-f')", false],
        ["__p.same(slug('f g h'), 'f-g-h')", false],
        ["__p.same(slug('h i j'), 'h-i-j')", true],
        ["__p.same(slug('i j k'), 'i-j k')", false],
        ['__p.same(slug("One"), "one")', true],
        ['__p.same(slug("Two Words Here"), "two-words-here")', true],
        ['__p.throws(() => slug(1))', false],
      ].toSorted(),
    );
  });

  test('a result may complain itself, or say what it expected', async () => {
    const issue = `# Say what is wrong

\`\`\`js
slug(1); // => { ok: false, error: 'wrong type' }
slug(2); // => ['must not be empty', { wrong: ['use a instead of b'] }]
slug(3); // => SyntaxError: Unexpected token
slug(4); // => SyntaxError: expected expression
slug(5); // => { actual: 1, expected: 2 }
slug(6); // => TypeError: no text, should be ''
slug(7); // expected 'a', got 'b'
slug(8); // => ['a'], which is wrong
slug(9); // => TypeError: no text (a bug)
\`\`\`
`;
    expect(await readIn(issue)).toEqual(
      [
        ["__p.same(slug(1), ({ ok: false, error: 'wrong type' }))", false],
        ["__p.same(slug(2), ['must not be empty', { wrong: ['use a instead of b'] }])", false],
        ['__p.throws(() => slug(3))', false],
        ['__p.throws(() => slug(4))', false],
        ['__p.same(slug(5), ({ actual: 1, expected: 2 }))', false],
        ["__p.same(slug(6), '')", true],
        ["__p.same(slug(7), 'a')", true],
      ].toSorted(),
    );
  });

  test('what is denied before a value is asked for says nothing against the value', async () => {
    const issue = `# Do not throw

\`slug(1)\` must not throw, it must return \`'1'\`.
\`slug(2)\` shouldn't throw but return \`'2'\`.
\`slug(3)\` does not work, although it should return \`'3'\`.

\`slug(4)\` must not, as today, return \`'4'\`.
\`slug(5)\` doesn't do what it must: it returns \`'5'\`.
\`slug(6)\` does not work as expected and returns \`'6'\`.
\`slug(7)\` shouldn't have to return \`'7'\`.
\`slug(8)\` must return a text and must not return \`'8'\`.
\`slug(9)\` should return a text but never \`'9'\`.
`;
    expect(await readIn(issue)).toEqual([
      ["__p.same(slug(1), '1')", true],
      ["__p.same(slug(2), '2')", true],
      ["__p.same(slug(3), '3')", true],
    ]);
  });

  test('an example that no test file can take is named, and none is made of what is not code', async () => {
    const issue = '```js\nexpect(launch(1)).toBe(2);\n```\n\n```json\n{"a": 1}\n```\n\n```js\nconst {\n```\n';
    const derived = await bench.derive(REPOSITORY, { issue, tests: TESTS });
    expect(derived.unused).toEqual(['expect(launch(1)).toBe(2);']);
  });

  test('a regression that no test sees shows on other inputs, and on functions that no test calls', async () => {
    const files = {
      ...REPOSITORY,
      'test/slug.test.js': SLUG_TEST.replace('{ slug }', '* as all').replace('slug(', 'all.slug('),
    };
    const derived = await bench.derive(files, { issue: 'It says `"Two Words"` wrongly.', tests: TESTS });
    const right = await bench.run({ ...files, 'slug.js': FIXED }, derived);
    const wrong = FIXED.replace('.length', '.length - 1').replace(
      'toLowerCase()',
      'toLowerCase().slice(0, 6)',
    );
    const regressed = await bench.run({ ...files, 'slug.js': wrong }, derived);
    const different = [...right.observations].filter(
      ([id, { text }]) => regressed.observations.get(id)?.text !== text,
    );
    expect(different.map(([, { input }]) => input.split('(')[0])).toEqual(
      expect.arrayContaining(['all.slug', 'all.words']),
    );
    expect(seenFor(right, 'all.slug("Two Words")')).toBe('"two-words"');
    expect(seenFor(regressed, 'all.slug("Two Words")')).toBe('"two wo"'.replace(' ', '-'));
    expect(outcomesOf(derived, regressed, 'base')).toEqual(['passed']);
  });

  test('constants of the changed lines are tried, with their neighbours', async () => {
    const files = {
      ...REPOSITORY,
      'slug.js': 'export const slug = (n) => (n > 64 ? "big" : "small");',
      'test/slug.test.js': SLUG_TEST.replace("slug('Hello'), 'hello'", "slug(3), 'small'"),
    };
    const derived = await bench.derive(files, { tests: TESTS, changed: ['-  n > 64 ? 1\n+  n >= 64'] });
    const { observations } = await bench.run(files, derived);
    const inputs = [...observations.values()].map(({ input }) => input);
    expect(inputs).toEqual(expect.arrayContaining(['slug(63)', 'slug(64)', 'slug(65)']));
  });

  test('what is done with instances is observed, whether the tests look at it or not', async () => {
    const files = {
      ...REPOSITORY,
      'stack.js': `export class Stack {
  #items = [];
  push(item) { this.#items.push(item); return this.#items.length; }
  peek() { return this.#items.at(-1); }
  get size() { return this.#items.length; }
}`,
      'test/stack.test.js': `import assert from 'node:assert';
import { beforeEach, describe, it } from 'node:test';
import { Stack } from '../stack.js';
describe('a stack', () => {
  let stack;
  beforeEach(() => { stack = new Stack(); });
  it('grows', () => { stack.push('a'); stack.push('b'); assert.equal(stack.size, 2); });
});
`,
    };
    const derived = await bench.derive(files, { tests: ['test/stack.test.js'] });
    const { observations, cases } = await bench.run(files, derived);
    expect([...cases.values()]).toEqual(['passed']);
    const told = [...observations.values()].map(({ input, text }) => `${input} = ${text}`);
    expect(told).toEqual(
      expect.arrayContaining([
        'new Stack().push("a").push("b").peek() = "b"',
        'new Stack().push("a").push("b").size = 2',
      ]),
    );
    expect([...observations].filter(([id]) => /\.look#t/.test(id)).map(([, { text }]) => text)).toEqual(
      expect.arrayContaining(['1', '2', '"b"']),
    );
  });

  test('rows of tables, a helper that asserts, and plain scripts are probed, too', async () => {
    const files = {
      ...REPOSITORY,
      'test/support.js': `import assert from 'node:assert';
export const expect = (value) => ({ toBe: (other) => assert.strictEqual(value, other) });`,
      'test/table.test.js': `import { test } from 'node:test';
import { slug } from '../slug.js';
import { expect } from './support.js';
for (const [text, expected] of [['A', 'a'], ['B', 'b']]) {
  test(text, () => { expect(slug(text)).toBe(expected); });
}`,
      'test/plain.js': `import assert from 'node:assert/strict';
import { words } from '../slug.js';
const text = 'a b c';
assert.equal(words(text), 3);
assert.equal(words('one'), 1);`,
    };
    const derived = await bench.derive(files, { tests: ['test/table.test.js', 'test/plain.js'] });
    const ran = await bench.run(files, derived);
    expect([...ran.cases.values()]).toEqual(['passed', 'passed', 'passed']);
    expect([...ran.observations].filter(([id]) => /^b0.*look/.test(id)).map(([, { text }]) => text)).toEqual([
      '"a"',
      '"b"',
    ]);
    expect(seenFor(ran, 'words("one two")') ?? seenFor(ran, 'words("on")')).toBeDefined();
  });

  test('cases that tell when they are over, by a plan or by a call, do so in every variant', async () => {
    const files = {
      ...REPOSITORY,
      'tape.js': `const queue = [];
export function test(title, body) {
  queue.push(() => new Promise((done) => {
    const t = { equal(a, b) { if (a !== b) process.exitCode = 1; }, plan() {}, test, end: done };
    body(t);
  }));
}
setImmediate(async () => { for (const next of queue) await next(); console.log('all over'); });`,
      'test/tape.test.js': `import { test } from '../tape.js';
import { slug } from '../slug.js';
test('by a call', (t) => { t.equal(slug('A'), 'a'); t.end(); });
test('by a plan', (t) => { t.plan(2); t.equal(slug('B'), 'b'); setTimeout(() => t.equal(slug('C'), 'c'), 5); });`,
    };
    const derived = await bench.derive(files, { tests: ['test/tape.test.js'] });
    const ran = await bench.run(files, derived);
    expect(ran.output).toMatchObject({ ended: 'done' });
    expect([...ran.cases.values()]).toEqual(['passed', 'passed']);
    const late = [...ran.observations].flatMap(([id, { text }]) => (/\.1\.0\.look/.test(id) ? [text] : []));
    expect([...new Set(late)]).toEqual(['"b"', '"c"']);
  });

  test('TypeScript is read as it stands', async () => {
    const files = {
      'slug.ts':
        'export type Text = string;\nexport const slug = (text: Text): Text => text.toLowerCase();\n',
      'test/slug.test.ts': `import assert from 'node:assert';
import { test } from 'node:test';
import { slug, type Text } from '../slug.ts';
test('a', () => { const text: Text = 'A'; assert.equal(slug(text as Text), 'a'); });
`,
      'package.json': '{"type":"module"}',
    };
    const derived = await bench.derive(files, { tests: ['test/slug.test.ts'] });
    const ran = await bench.run(files, derived);
    expect([...ran.cases.values()]).toEqual(['passed']);
    expect(ran.observations.size).toBeGreaterThan(5);
  });

  test('a runner that transforms files, has hooks, tables and matchers of its own works as ever', async () => {
    const files = {
      'package.json': '{"type":"module"}',
      'slug.ts': 'export const slug = async (text: string) => text.toLowerCase();\n',
      'test/slug.test.ts': `import { beforeEach, describe, expect, it, test, vi } from 'vitest';
import { slug } from '../slug.ts';
describe('slug', () => {
  let text: string;
  beforeEach(() => { text = 'A'; });
  it('settles', async () => { await expect(slug(text)).resolves.toBe('a'); });
  test.each([['B', 'b'], ['C', 'c']])('row %s', async (input, expected) => {
    expect(await slug(input)).toEqual(expected);
  });
  it('mocks', () => { const f = vi.fn(); f(1); expect(f).toHaveBeenCalledWith(1); });
});
`,
    };
    const derived = await bench.derive(files, { tests: ['test/slug.test.ts'] });
    const vitest = join(import.meta.dirname, '../../../node_modules/vitest');
    const command = `mkdir node_modules && ln -s '${vitest}' node_modules/vitest && '${process.execPath}' node_modules/vitest/vitest.mjs run`;
    const ran = await bench.run(files, derived, { command });
    expect([...ran.cases.values()]).toEqual(['passed', 'passed', 'passed']);
    const looked = [...ran.observations].flatMap(([id, { text }]) => (/\.look/.test(id) ? [text] : []));
    expect(looked).toEqual(['"a"', '"b"', '"c"', '[function]']);
  });

  test('tests that candidates add are run on every tree; who wrote them, and in which order, has no effect', async () => {
    const text = SLUG_TEST.replace("'one word'", "'two spaces'").replace(
      "slug('Hello'), 'hello'",
      "slug('a b c'), 'a-b-c'",
    );
    const added = ['C', 'A'].map((by) => ({ path: 'test/new.test.js', text, by }));
    const copied = { path: 'test/slug.test.js', text: SLUG_TEST, by: 'B' };
    const derived = await bench.derive(REPOSITORY, { tests: TESTS, added: [...added, copied] });
    expect(derived.files.map(({ by }) => by)).toEqual([[], ['A', 'C']]);
    expect(derived.files[1]?.path).toMatch(/^test\/derived-\d+\.test\.js$/);
    expect(derived.files[1]?.text).not.toMatch(/\b[AC]\b/);
    expect(await bench.derive(REPOSITORY, { tests: TESTS, added: [copied, ...added].toReversed() })).toEqual(
      derived,
    );
    const base = await bench.run(REPOSITORY, derived);
    expect(outcomesOf(derived, base, 'candidate')).toEqual(['failed']);
  });
});
