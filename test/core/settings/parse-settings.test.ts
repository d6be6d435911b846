import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSettings, readSettingsText } from '../../../src/core/settings/index.ts';

const FILE = '.github/auto-dev.yml';

/** All that a user would be told about a file; empty when it is good. */
function told(text: string): readonly string[] {
  const file = readSettingsText(text, FILE);
  if (file.kind === 'invalid') return file.problems;
  const parsed = parseSettings(file.value);
  return parsed.kind === 'ok' ? [] : parsed.problems.map(({ path, message }) => file.locate(path) + message);
}

test('a good file is plain values', () => {
  const text =
    '# ours\nlabel: auto\ncoders:\n  - { agent: builtin, model: "a/b" }\nbudget:\n  run: 2.5\nci: run\n';
  expect(readSettingsText(text, FILE)).toMatchObject({
    kind: 'ok',
    value: { label: 'auto', coders: [{ agent: 'builtin', model: 'a/b' }], budget: { run: 2.5 }, ci: 'run' },
  });
  for (const empty of ['', '\n', '# nothing\n', '---\n', 'null\n', '{}']) expect(told(empty)).toEqual([]);
});

test('every problem is reported with its line and column', () => {
  const text = [
    'ci: run',
    'candidatess: 3',
    'budget:',
    '  run: -1',
    '  foo: 2',
    'coders:',
    '  - agent: a',
    '    modle: x',
    '  - {}',
  ].join('\n');
  expect([...told(text)].sort()).toEqual([
    `${FILE}:2:1: There is no setting \`candidatess\`. Did you mean \`candidates\`?`,
    `${FILE}:4:3: budget.run: must be more than 0.`,
    `${FILE}:5:3: There is no setting \`budget.foo\`. Known here: \`run\`, \`candidate\`, \`tokens\`.`,
    `${FILE}:8:5: There is no setting \`coders[0].modle\`. Did you mean \`model\`?`,
    `${FILE}:9:5: coders[1].agent: is missing.`,
  ]);
});

describe('YAML features without a use in settings are rejected', () => {
  test.each([
    ['a: &x 1\nb: 2', '1:7: Anchors'],
    ['a: *x', '1:4: Aliases'],
    ['a: !foo 1', '1:4: Unresolved tag'],
    ['a: !!js/function "x"', '1:4: Unresolved tag'],
    ['a: !!binary aGk=', '1:4: Unresolved tag'],
    ['a: !!set {a, b}', '1:4: Unresolved tag'],
    ['a: !<tag:example.org,2000:x> b', '1:4: Unresolved tag'],
    ['label: a\nlabel: b', '2:1: This key is given twice.'],
    ['a: 1\n---\nb: 2', '2:1: Source contains multiple documents'],
    ['__proto__: {candidates: 9}', '1:1: The key `__proto__` is not accepted'],
    ['budget: {constructor: 1}', '1:10: The key `constructor` is not accepted'],
    ['<<: {a: 1}', '1:1: The key `<<` is not accepted'],
    ['? [a]\n: 1', 'all keys must be strings'],
    ['label: [1\n', 'A bracket or brace is not closed'],
    ['label: {a: 1\n', 'A bracket or brace is not closed'],
    ["label: 'a\n", 'A quote, bracket or brace that was opened earlier is not closed'],
    ['a:\n\t- b', '2:1: Tabs are not allowed as indentation; use spaces.'],
    ['label: @a', '1:8: A value that begins with this character needs quotes.'],
    ['label: a: b', '1:8: A value with `: ` in it needs quotes'],
    ['checks:\n- a\n b: c', '2:3: A key and its colon must be on one line'],
    ['\ufefflabel: a', 'begins with a byte order mark'],
    ['label: \ufffd', 'not valid UTF-8'],
    [`# ${'x'.repeat(65_536)}`, 'bigger than 64 KiB'],
  ])('%j: %s', (text, why) => {
    expect(told(text)[0]).toMatch(new RegExp(`^${FILE.replaceAll('.', '\\.')}:`));
    expect(told(text)[0]).toContain(why);
  });

  const laughs = Array.from(
    { length: 9 },
    (_, i) => `l${i + 1}: &l${i + 1} [${Array.from({ length: 9 }, () => `*l${i}`).join(', ')}]`,
  );
  test.each([
    ['a billion laughs', `l0: &l0 ha\n${laughs.join('\n')}`],
    ['open brackets', '['.repeat(60_000)],
    ['open braces', '{a: '.repeat(15_000)],
    ['nested lists', '- '.repeat(30_000)],
    ['nested lists over lines', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}-\n`).join('')],
    ['nested keys', 'a: '.repeat(20_000)],
    ['nested keys over lines', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
    ['question marks', '? '.repeat(30_000)],
    ['quotes', '"'.repeat(60_000)],
    ['tags', '!'.repeat(60_000)],
    ['anchors', '&'.repeat(60_000)],
    ['many keys', Array.from({ length: 6_000 }, (_, i) => `k${i}: 1\n`).join('')],
    ['one key many times', 'label: a\n'.repeat(7_000)],
    ['many items', '-\n'.repeat(30_000)],
  ])('%s', (_, text) => {
    const [first = '', ...rest] = told(text);
    expect(first).toMatch(/^\.github\/auto-dev\.yml:.*\.$/);
    expect(first.length).toBeLessThan(400);
    expect(rest.length).toBeLessThan(20);
  });
});

test('no text and no path causes an error in the reader', () => {
  const piece = fc.constantFrom(
    'a',
    ':',
    ' ',
    '\n',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '&x',
    '*x',
    '!t',
    '"',
    "'",
    '|',
    '>',
    '#',
    '?',
    '---',
    '\t',
    '%',
    '1',
    'é',
    '\r',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  );
  const path = fc.array(fc.oneof(fc.constantFrom('a', 'b', '__proto__'), fc.nat({ max: 3 })), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(text, path, (some, keys) => {
      const file = readSettingsText(some, 'f');
      if (file.kind === 'ok') expect(file.locate(keys)).toMatch(/^f:\d+:\d+: $/);
      else for (const problem of file.problems) expect(problem).toMatch(/^f:(?:\d+:\d+:)? \S.*[.!?]$/s);
    }),
    { numRuns: 2_000 },
  );
});
