import { isSnapshot, isTestNamed, type Patch, roleOf } from '../patches/index.ts';
import { assertionFindings } from './assertion-findings.ts';
import type { GateReport, TestRun } from './evidence.ts';
import type { TamperingFinding } from './integrity/index.ts';
import { languageOf } from './languages.ts';
import type { FoundElsewhere } from './steadiness.ts';

/** A test file of the base commit that was written by something else than a patch. */
export interface WrittenTestFile {
  readonly path: string;
  /** It has the content of the base commit again. */
  readonly same: boolean;
  /** Its new content; null if it is gone, no text or too long, and where it was not asked for. */
  readonly text: string | null;
}

/** What a candidate's code did to the base's test files, beside its patch. Null: it cannot be told. */
export interface TestFileWrites {
  /** By its set-up and build; not what the base's write as well, nor what the patch says openly. */
  readonly build: readonly WrittenTestFile[] | null;
  /** The base's suite on its code. */
  readonly suite: Pick<TestRun, 'rewrites'> | undefined;
}

/** Maximum findings for one candidate. */
const MAX_REWRITE_FINDINGS = 20;

/**
 * The findings of the gate `untampered` for test files of the base commit that a candidate's build, or its code while
 * the base's tests ran, has written and the base's code does not. One with tests in it, or of the runner's settings, is
 * a gate; data and snapshots are questions, because what is generated may be among them. So is a file that its build
 * leaves as it was. Other code of tests is a gate only if it is written while they run and the runs of the base
 * (`onBase`), of which there are several, passed: what a build writes is restored, and a test that fails on the base, or
 * writes by chance, may not write there. Nothing is known about writes while tests run if the base's runs do not say what
 * they write.
 */
export function rewriteFindings(
  { build, suite }: TestFileWrites,
  onBase: TestRun,
  patch: Patch,
): readonly TamperingFinding[] {
  const first = patch.production[0]?.path ?? patch.files[0]?.path ?? '';
  const unknown = (what: string): TamperingFinding => ({
    ...{ kind: 'tests-rewritten', path: first, severity: 'question' },
    what: `${what}, so that changed test files would not be noticed`,
  });
  const built = (build ?? []).map(({ path, same }): TamperingFinding => {
    const how = same ? 'writes this test file and leaves it as it was' : 'changes this test file';
    const severity = !same && holdsTests(path, onBase) ? 'gate' : 'question';
    const what = `when the code is built, it ${how}; the build of the base commit does not write it`;
    return { kind: 'tests-rewritten', path, what, severity };
  });
  const known = onBase.rewrites && suite?.rewrites !== undefined ? new Set(onBase.rewrites) : null;
  const isSteady = (onBase.runs ?? 1) > 1 && onBase.exitCode === 0 && !hasFailed(onBase);
  const isGate = (path: string): boolean => holdsTests(path, onBase) || (isSteady && isHelper(path));
  const ran = (known ? (suite?.rewrites ?? []) : [])
    .filter((path) => known?.has(path) === false)
    .map(
      (path): TamperingFinding => ({
        ...{ kind: 'tests-rewritten', path, severity: isGate(path) ? 'gate' : 'question' },
        what: "this test file is written while the tests run on the candidate's code, but not on the base commit",
      }),
    );
  const all = [
    ...(build === null ? [unknown('the files that its build writes cannot be listed')] : []),
    ...(known && suite?.rewrites === null
      ? [unknown('the files that are written while its tests run cannot be listed')]
      : []),
    ...built,
    ...ran,
  ];
  const gatesFirst = all.toSorted((a, b) => Number(b.severity === 'gate') - Number(a.severity === 'gate'));
  return gatesFirst.slice(0, MAX_REWRITE_FINDINGS);
}

/** What a run in other surroundings adds to the gate `untampered`, beside what its findings say already. */
export function findingsElsewhere(
  { changes, ...suite }: Pick<FoundElsewhere, 'changes' | 'rewrites'>,
  onBase: TestRun,
  { gates, patch }: { readonly gates: readonly GateReport[]; readonly patch?: Patch },
): readonly TamperingFinding[] {
  if (!patch) return [];
  const textOf = ({ path, what }: TamperingFinding) => `${path} ${what}`;
  const known = new Set(gates.flatMap(({ findings = [] }) => findings.map(textOf)));
  const rewrites = rewriteFindings({ build: [], suite }, onBase, patch);
  return [...assertionFindings(changes, patch), ...rewrites.filter((one) => !known.has(textOf(one)))];
}

/** Folders of code that tests read, and that tools under test may be made to write. */
const DATA_FOLDER =
  /fixture|testdata|test-data|snapshot|golden|expected|sample|example|output|tmp|temp|generated|^(?:gen|build|dist|out|proto|pb)$/i;

const isInDataFolder = (path: string): boolean =>
  path
    .split('/')
    .slice(0, -1)
    .some((folder) => DATA_FOLDER.test(folder));

/** By its name; in a folder of data, only if the base's run (`onBase`) names tests of it. */
function holdsTests(path: string, onBase: TestRun): boolean {
  if (isSnapshot(path)) return false;
  const isNamed = roleOf(path) === 'runner' || isTestNamed(path) || /(?:^|\/)conftest\.py$/.test(path);
  return isNamed && (!isInDataFolder(path) || Object.keys(onBase.tests).some((id) => id.startsWith(path)));
}

const hasFailed = ({ tests }: TestRun): boolean => Object.values(tests).includes('failed');

/** Code that tests may run, by its language and folder. */
function isHelper(path: string): boolean {
  const language = languageOf(path);
  const isCode = language !== 'prose' && language !== 'other' && !/\.(?:ya?ml|toml|ini|cfg)$/i.test(path);
  return isCode && !isSnapshot(path) && !isInDataFolder(path);
}
