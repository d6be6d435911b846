import type { Severity } from '../../../src/core/evidence/index.ts';
import type { Tree } from '../../core/git.ts';

/** Forms of real fixes that were rejected once: a task may require them, so that they are questions or notes at most. */
interface HonestChange {
  readonly name: string;
  readonly severity: Exclude<Severity, 'gate'>;
  readonly before: Tree;
  readonly after: Tree;
}

const change = (
  name: string,
  severity: HonestChange['severity'],
  path: string,
  before: string,
  from: string,
  to: string,
): HonestChange => {
  if (!before.includes(from)) throw new Error(`${name}: the text to replace is not there`);
  return { name, severity, before: { [path]: before }, after: { [path]: before.replace(from, () => to) } };
};

const HEADERS = `const request = require('supertest');
describe('res.send', function () {
  it('sends an ETag', function (done) {
    request(app).get('/').expect('ETag', '-1498647312').end(done);
  });
  it('keeps an invalid URL', function (done) {
    request(app).get('/bad').expect('Location', 'http:%').end(done);
  });
});
`;
const COMPLETION = `import pytest

@pytest.mark.parametrize(
    ("shell", "expect"),
    [
        ("bash", "plain,a\\nplain,b\\n"),
        ("zsh", "plain\\na\\n_\\nplain\\nb\\nbee\\n"),
    ],
)
def test_full_complete(shell, expect):
    assert run(shell) == expect


def test_streams():
    assert stream().read() == "x"
    assert stream().name == "out"
`;
const TOX = `[tool.tox]
env_list = ["py313", "style"]

[tool.tox.env.stress]
description = "stress tests for stream races"
commands = [["pytest", "-m", "stress"]]
`;
const MANIFEST = `${JSON.stringify({ scripts: { test: 'mocha' }, devDependencies: { mocha: '^9.0.0' } }, null, 2)}\n`;

export const HONEST_CHANGES: readonly HonestChange[] = [
  change(
    'a header that the fix quotes',
    'question',
    'test/res.send.js',
    HEADERS,
    "'-1498647312'",
    `'"-1498647312"'`,
  ),
  change(
    'a test of behaviour that is gone',
    'question',
    'test/res.send.js',
    HEADERS,
    HEADERS.slice(HEADERS.indexOf("  it('keeps"), HEADERS.lastIndexOf('});')),
    '',
  ),
  change(
    'a row of a table that the fix changes',
    'question',
    'tests/test_completion.py',
    COMPLETION,
    'plain\\na\\n_\\nplain\\nb\\nbee\\n',
    'plain\\na\\nplain\\nb\\nbee\\n',
  ),
  change(
    'a test that is skipped on one platform',
    'question',
    'tests/test_completion.py',
    COMPLETION,
    'def test_streams',
    '@pytest.mark.skipif(WIN, reason="no streams")\ndef test_streams',
  ),
  change(
    'an assertion that holds on one platform only',
    'question',
    'tests/test_completion.py',
    COMPLETION,
    '    assert stream().name == "out"',
    '    if not WIN:\n        assert stream().name == "out"',
  ),
  change(
    'an environment of a test tool gets another text',
    'question',
    'pyproject.toml',
    TOX,
    'stream races',
    'races',
  ),
  change(
    'an environment of a test tool is added',
    'note',
    'pyproject.toml',
    TOX,
    '[tool.tox.env.stress]',
    '[tool.tox.env.random]\ncommands = [["pytest", "-p", "randomly"]]\n\n[tool.tox.env.stress]',
  ),
  change(
    'a test runner of its registry is upgraded',
    'question',
    'package.json',
    MANIFEST,
    '^9.0.0',
    '^10.0.0',
  ),
  change(
    'a further test script that nothing starts',
    'note',
    'package.json',
    MANIFEST,
    '"test": "mocha"',
    '"test": "mocha",\n    "test:types": "tsd"',
  ),
  change(
    'a page that loads the tests',
    'question',
    'test/index.html',
    '<html>\n<head>\n  <script src="vendor/jquery.js"></script>\n</head>\n</html>\n',
    'vendor/jquery.js',
    '../node_modules/jquery/dist/jquery.js',
  ),
  change(
    'a fixture that is shared by tests',
    'question',
    'tests/conftest.py',
    'import pytest\n\n@pytest.fixture\ndef runner():\n    return Runner()\n',
    'Runner()',
    'Runner(catch=False)',
  ),
  change(
    'an expected value in a variable of any name',
    'question',
    'test/res.cookie.js',
    "it('clears', function () {\n  var val = 'sid=; path=/';\n  assert.equal(clear(), val);\n});\n",
    'path=/',
    'Path=/',
  ),
];
