import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProbeBench, outcomesOf, type ProbeBench, seenFor } from './bench.ts';

const SLUG = `class Empty(Exception):
    pass


def slug(text):
    if text == "":
        raise Empty("nothing to do")
    return text.lower().replace(" ", "-", 1)
`;
const FIXED = SLUG.replace(', 1)', ')');
const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0;

describe('probes in Python', () => {
  let bench: ProbeBench;
  beforeAll(async () => {
    bench = await openProbeBench();
  });
  afterAll(() => bench.close());

  test('test methods are run as they are, looked at, and changed', async () => {
    const files = {
      'slug.py': SLUG,
      'test_slug.py': `import unittest
from slug import Empty, slug


class TestSlug(unittest.TestCase):
    def setUp(self):
        self.word = "Hello"

    def test_word(self):
        self.assertEqual(slug(self.word), "hello")
        self.assertEqual(slug("A B"), "a-b")

    def test_empty(self):
        with self.assertRaises(Empty):
            slug("")

    def test_wrong(self):
        assert slug("A B C") == "a-b-c"
`,
    };
    const derived = await bench.derive(files, { tests: ['test_slug.py'] });
    const command = 'python3 -m unittest test_slug';
    const base = await bench.run(files, derived, { command });
    expect(base.output.ended).toBe('done');
    expect(outcomesOf(derived, base, 'base')).toEqual(['passed', 'passed', 'failed']);
    expect(
      [...base.observations].flatMap(([id, { text }]) => (/^b0\.[01].*look/.test(id) ? [text] : [])),
    ).toEqual(['Empty: nothing to do', '"hello"', '"a-b"']);
    const fixed = await bench.run({ ...files, 'slug.py': FIXED }, derived, { command });
    expect(outcomesOf(derived, fixed, 'base')).toEqual(['passed', 'passed', 'passed']);
    const differ = [...fixed.observations].filter(
      ([id, { text }]) => base.observations.get(id)?.text !== text,
    );
    expect(differ.length).toBeGreaterThan(1);
    expect(differ.every(([, { text }]) => /-.*-/.test(text))).toBe(true);
  });

  test('a call that never comes back, and one that ends the process, cost only themselves', async () => {
    const files = {
      'double.py': `import os


def double(n):
    while n == 6:
        pass
    if n == 4:
        os._exit(3)
    return n * 2
`,
      'test_double.py': `import unittest
from double import double


class TestDouble(unittest.TestCase):
    def test_five(self):
        self.assertEqual(double(5), 10)
`,
    };
    const derived = await bench.derive(files, { tests: ['test_double.py'] });
    const command = 'python3 -m unittest test_double';
    const ran = await bench.run(files, derived, { command, limits: { variantMs: 200, wallMs: 60_000 } });
    expect(ran.output.ended).toBe('done');
    expect(seenFor(ran, 'double(6)')).toBe('does not come back');
    expect(seenFor(ran, 'double(4)')).toBe('ends the process');
    expect(seenFor(ran, 'double(7)')).toBe('14');
    expect(outcomesOf(derived, ran, 'base')).toEqual(['passed']);
  });

  test.skipIf(!hasPytest)(
    'fixtures, tables, and examples of the issue stand beside other functions',
    async () => {
      const files = {
        'slug.py': SLUG,
        'conftest.py': '',
        'test_slug.py': `import pytest
from slug import slug


@pytest.fixture
def word():
    return "Hello"


def test_fixture(word):
    assert slug(word) == "hello"


@pytest.mark.parametrize("text,expected", [("A", "a"), ("B C", "b-c")])
def test_rows(text, expected):
    assert slug(text) == expected
`,
      };
      const issue = `\`\`\`python
assert slug("A B C") == "a-b-c"
\`\`\`

    >>> slug("d e f")
    'd-e-f'

- In a list, an indent is no code:

    >>> slug("A")
    'no'

\`\`\`
>>> slug("x y z")
'x-y-z'
\`\`\`

\`slug("q r s")\` should be \`"q-r-s"\`.
`;
      const limits = { changes: 40 };
      const derived = await bench.derive(files, { issue, tests: ['test_slug.py'], limits });
      const command = 'python3 -m pytest -q -p no:cacheprovider';
      const base = await bench.run(files, derived, { command });
      expect(base.output.ended).toBe('done');
      expect(outcomesOf(derived, base, 'base')).toEqual(['passed', 'passed']);
      expect(outcomesOf(derived, base)).toEqual(['failed', 'failed', 'failed', 'failed']);
      const fixed = await bench.run({ ...files, 'slug.py': FIXED }, derived, { command });
      expect(outcomesOf(derived, fixed)).toEqual(['passed', 'passed', 'passed', 'passed']);
      expect(seenFor(base, 'slug("x y z")')).toBe('"x-y z"');
      expect(seenFor(fixed, 'slug("x y z")')).toBe('"x-y-z"');
    },
  );
});
