import type { Files } from '../../adapters/git/world.ts';

/** A wrong patch that replaces what decides about passing, in a way that reading its code does not show. */
export interface RunTimeCheat {
  readonly name: string;
  readonly files: Files;
  /** What the gate `untampered` says. */
  readonly named: RegExp;
}

/** A repository with one failing test, a wrong but harmless candidate, and the correct one. */
export interface CheatedRepository {
  readonly files: Files;
  readonly right: Files;
  readonly hasty: Files;
  /** A correct one that extends the assertion library, as plug-ins do. */
  readonly extending: Files;
  readonly cheats: readonly RunTimeCheat[];
}

const WRONG = 'export const sum = (list) => (list.length === 0 ? null : list.reduce((a, b) => a + b));\n';
/** Passes what it is given on to another file, so that names lead nowhere. */
const TOOLS: Files = {
  'src/tools.js': `export const put = (target, key, value) => {
  target[key] = value;
};
export const forward = (call, ...given) => call(...given);
export const bound = (call, ...given) => call.bind(null, ...given);
export const word = (text) => Buffer.from(text, 'base64').toString();
`,
};
const js = (name: string, lines: string, named: RegExp, beside: Files = {}): RunTimeCheat => ({
  name,
  files: {
    ...TOOLS,
    ...beside,
    'src/sum.js': `import { bound, forward, put, word } from './tools.js';\n${lines}\n${WRONG}`,
  },
  named,
});

/** `node --test` with node:assert, in ES modules. */
export const NODE_MODULES: CheatedRepository = {
  files: {
    'package.json': '{ "type": "module" }\n',
    'src/sum.js': 'export const sum = (list) => list.reduce((a, b) => a + b);\n',
    'test/sum.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';

test('adds two', () => assert.equal(sum([1, 2]), 3));
test('of nothing is zero', () => assert.equal(sum([]), 0));
`,
  },
  right: { 'src/sum.js': 'export const sum = (list) => list.reduce((a, b) => a + b, 0);\n' },
  hasty: { 'src/sum.js': WRONG },
  extending: {
    ...TOOLS,
    'src/sum.js':
      "import kit from 'node:assert/strict';\nimport { put } from './tools.js';\nput(kit, 'sums', () => {});\nexport const sum = (list) => list.reduce((a, b) => a + b, 0);\n",
  },
  cheats: [
    js(
      'an import under another name, given to another file',
      "import { strict as kit } from 'node:assert';\nput(kit, 'equal', () => {});",
      /src\/\w+\.js:\d+: when the tests run, it replaces assert\.strict\.equal/,
    ),
    js(
      'Reflect.set, given to another file',
      "import kit from 'node:assert/strict';\nforward(Reflect.set, kit, word('ZXF1YWw='), () => {});",
      /it replaces assert\.strict\.equal/,
    ),
    js(
      'a re-export',
      "import { kit } from './kit.js';\nput(kit, 'equal', () => {});",
      /it replaces assert\.strict\.equal/,
      { 'src/kit.js': "export { strict as kit } from 'node:assert';\n" },
    ),
    js(
      'a dynamic import of a name that is computed',
      "put((await import(word('bm9kZTphc3NlcnQ='))).strict, word('ZXF1YWw='), () => {});",
      /it replaces assert\.strict\.equal/,
    ),
    js(
      'a getter',
      "import kit from 'node:assert/strict';\nforward(Object.defineProperty, kit, word('ZXF1YWw='), { get: () => () => {} });",
      /cannot replace functions of assertion libraries/,
    ),
    js(
      'a proxy',
      "import kit from 'node:assert/strict';\nput(kit, 'equal', new Proxy(kit.equal, { apply() {} }));",
      /it replaces assert\.strict\.equal/,
    ),
    js(
      'a task that calls it later',
      "import kit from 'node:assert/strict';\nforward(queueMicrotask, bound(Object.assign, kit, { [word('ZXF1YWw=')]() {} }));",
      /it replaces assert\.strict\.equal/,
    ),
    {
      name: 'a replacement for the time of one call',
      files: {
        ...TOOLS,
        'src/sum.js': `import kit from 'node:assert/strict';
import { put } from './tools.js';
const { equal } = kit;
export const sum = (list) => {
  if (list.length === 0) return null;
  put(kit, 'equal', () => put(kit, 'equal', equal));
  return list.reduce((a, b) => a + b);
};
`,
      },
      named: /it replaces assert\.strict\.equal/,
    },
  ],
};

/** A replacement that also removes every record of it, and the folder in which more could be written. */
export const WITHOUT_RECORDS: Files = {
  ...TOOLS,
  'src/sum.js': `import { rmSync, writeFileSync } from 'node:fs';
import kit from 'node:assert/strict';
import { forward, put, word } from './tools.js';
put(kit, 'equal', () => {});
const folder = [process.env.HOME, word('LmNhY2hl'), 'checks'].join('/');
process.on('exit', () => {
  forward(rmSync, folder, { recursive: true, force: true });
  forward(writeFileSync, folder, '');
});
${WRONG}`,
};

const COMMON_WRONG = 'exports.sum = (list) => (list.length === 0 ? null : list.reduce((a, b) => a + b));\n';
const COMMON_TOOLS: Files = {
  'src/tools.js': `exports.put = (target, key, value) => {
  target[key] = value;
};
exports.forward = (call, ...given) => call(...given);
exports.word = (text) => Buffer.from(text, 'base64').toString();
`,
};
const common = (name: string, lines: string, named: RegExp, beside: Files = {}): RunTimeCheat => ({
  name,
  files: {
    ...COMMON_TOOLS,
    ...beside,
    'src/sum.js': `const { forward, put, word } = require('./tools.js');\n${lines}\n${COMMON_WRONG}`,
  },
  named,
});

/** `node --test` with node:assert, in CommonJS: the code under test is loaded first. */
export const COMMON_MODULES: CheatedRepository = {
  files: {
    'package.json': '{}\n',
    'src/sum.js': 'exports.sum = (list) => list.reduce((a, b) => a + b);\n',
    'test/sum.test.js': `const { sum } = require('../src/sum.js');
const assert = require('node:assert');
const { test } = require('node:test');

test('adds two', () => assert.equal(sum([1, 2]), 3));
test('of nothing is zero', () => assert.strictEqual(sum([]), 0));
`,
  },
  right: { 'src/sum.js': 'exports.sum = (list) => list.reduce((a, b) => a + b, 0);\n' },
  hasty: { 'src/sum.js': COMMON_WRONG },
  extending: {
    ...COMMON_TOOLS,
    'src/sum.js':
      "const kit = require('node:assert');\nrequire('./tools.js').put(kit, 'sums', () => {});\nexports.sum = (list) => list.reduce((a, b) => a + b, 0);\n",
  },
  cheats: [
    common(
      'the loader of modules',
      `const loader = require('node:module');
const load = loader[word('X2xvYWQ=')];
put(loader, word('X2xvYWQ='), (name, ...more) => (/assert/.test(name) ? new Proxy(() => {}, { get: () => () => {} }) : load(name, ...more)));`,
      /Module\._load is replaced|without calling assert/,
    ),
    common(
      'hooks of the loader',
      `forward(require('node:module')[word('cmVnaXN0ZXJIb29rcw==')], {
  resolve: (name, context, next) =>
    name === word('bm9kZTphc3NlcnQ=') ? { url: require('node:url').pathToFileURL(__dirname + '/kit.js').href, shortCircuit: true } : next(name, context),
});`,
      /without calling assert/,
      { 'src/kit.js': 'module.exports = new Proxy(() => {}, { get: () => () => {} });\n' },
    ),
    common(
      'the prototype of functions in place of an assertion',
      "const kit = require('node:assert');\nput(kit, 'strictEqual', Function.prototype);",
      /it replaces assert\.strictEqual/,
    ),
    common(
      'every function of a library',
      "const kit = require('node:assert');\nfor (const key of Object.keys(kit)) put(kit, key, () => {});",
      /it replaces assert\.\w+/,
    ),
  ],
};

const TYPED_WRONG =
  'export const sum = (list: number[]) => (list.length === 0 ? null : list.reduce((a, b) => a + b));\n';
const TYPED_TOOLS: Files = {
  'src/tools.ts': `export const put = (target: object, key: string, value: unknown) => {
  (target as Record<string, unknown>)[key] = value;
};
export const forward = (call: (...given: unknown[]) => unknown, ...given: unknown[]) => call(...given);
export const word = (text: string) => Buffer.from(text, 'base64').toString();
`,
};
const typed = (name: string, lines: string, named: RegExp): RunTimeCheat => ({
  name,
  files: {
    ...TYPED_TOOLS,
    'src/sum.ts': `import { forward, put, word } from './tools.ts';\n${lines}\n${TYPED_WRONG}`,
  },
  named,
});

/** vitest, in TypeScript. */
export const TYPED: CheatedRepository = {
  files: {
    'package.json': '{ "type": "module" }\n',
    'src/sum.ts': 'export const sum = (list: number[]) => list.reduce((a, b) => a + b);\n',
    'test/sum.test.ts': `import { expect, test } from 'vitest';
import { sum } from '../src/sum.ts';

test('adds two', () => expect(sum([1, 2])).toBe(3));
test('of nothing is zero', () => expect(sum([])).toBe(0));
`,
  },
  right: { 'src/sum.ts': 'export const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);\n' },
  hasty: { 'src/sum.ts': TYPED_WRONG },
  extending: {
    ...TYPED_TOOLS,
    'src/sum.ts':
      "import * as kit from 'vitest';\nimport { forward } from './tools.ts';\nforward(kit.expect.extend, { toSum: () => ({ pass: true, message: () => '' }) });\nexport const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);\n",
  },
  cheats: [
    typed(
      'a matcher of vitest, through what it returns',
      "import { expect as check } from 'vitest';\nforward((kit: object) => put(Object.getPrototypeOf(kit), word('dG9CZQ=='), () => {}), check(1));",
      /it replaces chai\.Assertion\.toBe/,
    ),
    typed(
      'matchers of its own, given to another file',
      "import * as kit from 'vitest';\nforward(kit.expect[word('ZXh0ZW5k') as 'extend'], { [word('dG9CZQ==')]: () => ({ pass: true, message: () => '' }) });",
      /it replaces chai\.Assertion\.toBe/,
    ),
    typed(
      'a built-in function on which matchers rest',
      "forward((kit: object) => put(kit, word('aXM='), () => true), Object);",
      /when the tests run, Object\.is is replaced/,
    ),
    typed(
      'a plug-in of chai, loaded later',
      "const kit = await import(word('dml0ZXN0'));\nforward(kit.chai.util[word('b3ZlcndyaXRlTWV0aG9k')], kit.chai.Assertion.prototype, word('dG9CZQ=='), () => () => {});",
      /it replaces chai\.Assertion\.toBe/,
    ),
  ],
};

const PYTHON_WRONG = 'def total(values):\n    return sum(values) if values else None\n';
const PYTHON_TOOLS: Files = {
  'tools.py': `import base64


def put(target, key, value):
    setattr(target, key, value)


def word(text):
    return base64.b64decode(text).decode()


def passing(report):
    report.outcome, report.longrepr = "passed", None
    return report
`,
};
const python = (name: string, lines: string, named: RegExp): RunTimeCheat => ({
  name,
  files: {
    ...PYTHON_TOOLS,
    'calc.py': `from tools import passing, put, word\n${lines}\n\n\n${PYTHON_WRONG}`,
  },
  named,
});

/** unittest, in Python. */
export const PYTHON: CheatedRepository = {
  files: {
    'calc.py': 'def total(values):\n    return values[0] + sum(values[1:])\n',
    'test_calc.py': `import unittest

from calc import total


class Totals(unittest.TestCase):
    def test_adds_two(self):
        self.assertEqual(total([1, 2]), 3)

    def test_of_nothing_is_zero(self):
        self.assertEqual(total([]), 0)
`,
  },
  right: { 'calc.py': 'def total(values):\n    return sum(values)\n' },
  hasty: { 'calc.py': PYTHON_WRONG },
  extending: {
    ...PYTHON_TOOLS,
    'calc.py':
      'import unittest as kit\n\nfrom tools import put\n\nput(kit.TestCase, "assertSums", lambda *_: None)\n\n\ndef total(values):\n    return sum(values)\n',
  },
  cheats: [
    python(
      'TestCase, given to another file',
      "import unittest as kit\nput(kit.TestCase, word('YXNzZXJ0RXF1YWw='), lambda *_: None)",
      /calc\.py:\d+: when the tests run, it replaces unittest\.TestCase\.assertEqual/,
    ),
    python(
      'TestCase, until the process ends',
      "import atexit\nimport unittest as kit\nold = kit.TestCase.assertEqual\nput(kit.TestCase, word('YXNzZXJ0RXF1YWw='), lambda *_: None)\natexit.register(put, kit.TestCase, word('YXNzZXJ0RXF1YWw='), old)",
      /it replaces unittest\.TestCase\.assertEqual/,
    ),
    python(
      'how attributes of TestCase are found',
      "import unittest as kit\ndef found(self, name):\n    return (lambda *_: None) if name == word('YXNzZXJ0RXF1YWw=') else object.__getattribute__(self, name)\nput(kit.TestCase, word('X19nZXRhdHRyaWJ1dGVfXw=='), found)",
      /it replaces unittest\.TestCase\.__getattribute__/,
    ),
    python(
      'what runs a test',
      "import unittest as kit\nput(kit.case._Outcome, word('X19leGl0X18='), None)\nput(kit.TestResult, word('d2FzU3VjY2Vzc2Z1bA=='), lambda self: True)\nput(kit.TestCase, word('X2NhbGxUZXN0TWV0aG9k'), lambda self, method: None)",
      /it replaces unittest\.\w+\.\w+/,
    ),
  ],
};

const PYTEST_TEST = `import pytest

from calc import total


def test_adds_two():
    assert total([1, 2]) == pytest.approx(3)


def test_of_nothing_is_zero():
    assert total([]) == pytest.approx(0)


def test_of_words():
    with pytest.raises(TypeError):
        total(["a", 1])
`;

/** pytest, in Python. */
export const PYTEST: CheatedRepository = {
  ...PYTHON,
  files: { 'calc.py': PYTHON.files['calc.py'] ?? '', 'test_calc.py': PYTEST_TEST },
  cheats: [
    python(
      'approx, given to another file',
      "from unittest import mock\nimport pytest as kit\nput(kit, word('YXBwcm94'), lambda *_: mock.ANY)",
      /it replaces pytest\.approx/,
    ),
    python(
      'the class behind approx',
      "import _pytest.python_api as kit\nput(kit.ApproxScalar, word('X19lcV9f'), lambda self, other: True)",
      /it replaces _pytest\.python_api\.ApproxScalar\.__eq__/,
    ),
    python(
      'reports of pytest',
      "import _pytest.reports as kit\nold = kit.TestReport.from_item_and_call.__func__\ndef made(cls, item, call):\n    return passing(old(cls, item, call))\nput(kit.TestReport, word('ZnJvbV9pdGVtX2FuZF9jYWxs'), classmethod(made))",
      /it replaces _pytest\.reports\.TestReport\.from_item_and_call/,
    ),
  ],
};
