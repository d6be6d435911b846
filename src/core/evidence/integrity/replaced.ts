import { ownerOf } from './cases.ts';
import type { Suspicion } from './finding.ts';
import type { Matched } from './matching.ts';
import { lineOf, type Side } from './view.ts';

const API = 'expect|assert|test|it|describe|suite|beforeEach|afterEach';
/** The test's own words come from a file of the repository. */
const LOCAL_IMPORT = new RegExp(
  `^\\s*import\\b[^'"]{0,300}\\b(${API})\\b[^'"]{0,300}from\\s*['"](\\.[^'"]+)['"]|^\\s*(?:const|let|var)\\s*[^=]{0,200}\\b(${API})\\b[^=]{0,200}=\\s*require\\(\\s*['"](\\.[^'"]+)['"]`,
);
/** They are given another meaning. */
const REDEFINED = new RegExp(
  `^(?:export\\s+)?(?:(?:const|let|var)\\s+(?:${API})\\s*=\\s*(?:async\\s*)?(?:\\(|function\\b|\\w+\\s*=>|new\\s+Proxy)|(?:async\\s+)?function\\s+(?:${API})\\s*\\()|^(?:globalThis|global|window)\\s*(?:\\.|\\[['"])(?:${API})\\b['"\\]]*\\s*=(?!=)|^(?:${API})\\s*=(?!=|>)|^\\s*expect\\.extend\\(\\s*\\{[^}]*\\bto(?:Be|Equal|StrictEqual|Throw)\\b`,
);
const MOCKS =
  /\b(?:vi|jest|mock|td)\.(?:mock|doMock|setMock|unstable_mockModule|module|replace)\s*\(\s*(?:import\(\s*)?['"](\.[^'"]+)['"]/;
const PYTHON_MOCK = /^\s*@(?:mock\.|unittest\.mock\.)?patch(?:\.object)?\s*\(/;

/** What a test file of the base stands on, replaced: the words of the runner, or the code under test. */
export function replacedApis({ view }: Matched): readonly Suspicion[] {
  if (view.file.change !== 'modified') return [];
  const { before, after, language } = view;
  const found: Suspicion[] = [];
  after.side.changes.forEach((change, index) => {
    if (!change || found.length > 0) return;
    const line = lineOf(after.side, index).slice(0, 1_000);
    const what = language === 'js' ? replacedIn(line, before.side) : null;
    if (what) found.push({ ...what, at: change });
    const owner =
      language === 'python' && PYTHON_MOCK.test(line)
        ? ownerOf(after.side, after.cases, after.side.starts[index] as number)
        : null;
    if (owner && before.cases.some(({ name }) => name === owner.name))
      found.push({
        kind: 'assertion-neutralised',
        what: 'a test of the base mocks what it tests',
        at: change,
        slight: true,
      });
  });
  return found;
}

function replacedIn(line: string, before: Side): Omit<Suspicion, 'at'> | null {
  const local = LOCAL_IMPORT.exec(line);
  const word = local?.[1] ?? local?.[3];
  const from = local?.[2] ?? local?.[4];
  if (word !== undefined && from !== undefined && !before.code.includes(from))
    return { kind: 'assertions-patched', what: `\`${word}\` now comes from another place` };
  if (REDEFINED.test(line))
    return { kind: 'assertions-patched', what: 'the words of the test runner are redefined in a test file' };
  const mocked = MOCKS.exec(line)?.[1];
  const imported =
    mocked !== undefined &&
    new RegExp(`(?:from|import|require\\()\\s*['"]${escaped(mocked)}(?:\\.\\w+)?['"]`).test(before.code);
  return imported
    ? { kind: 'assertion-neutralised', what: 'the code under test is replaced by a mock' }
    : null;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
