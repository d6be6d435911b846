import { type Patch, type PatchFile, patchedText } from '../patches/index.ts';
import { languageOf } from './languages.ts';
import {
  jsonParts,
  lineParts,
  makeParts,
  type Parts,
  packageParts,
  packagesOf,
  tableParts,
} from './manifests.ts';

/** How a file is read that is production code, but holds parts that decide how tests and build run. */
interface Watch {
  readonly names: RegExp;
  readonly parts: (text: string) => Parts | null;
  /** Changed lines that may belong to such a part, where the text on the base is not known. */
  readonly suspect: RegExp;
  /** A new file of this name is read by the tools of the whole repository. */
  readonly wins?: boolean;
}

const lines = (names: RegExp, decides: RegExp, wins = false): Watch => ({
  names,
  parts: (text) => lineParts(text, decides),
  suspect: decides,
  wins,
});
const PYTHON_TABLES =
  /^(?:tool[.:](?:pytest|coverage|tox|nox|hatch\.envs|poe|taskipy|pdm\.scripts)|(?:coverage:\w+|aliases|nosetests|unittest)$)/;
const CARGO_TABLES = /^(?:test|profile\.test|patch\.[^\]]*|replace)$/;
const MAKE_RULE = /^(?:\[tool[.:]|test|check|build|all)|pytest|testpaths|addopts|python_files/;

/** Our list of the manifests that common tools read; the first that fits counts. */
const WATCHES: readonly Watch[] = [
  {
    names: /(?:^|\/)package\.json$/,
    parts: packageParts,
    suspect:
      /"(?:(?:pre|post)?(?:test|build|check|install|prepare|pack)[^"]*|jest|vitest|mocha|ava|c8|nyc|tap|scripts)"\s*:/,
  },
  {
    names: /(?:^|\/)(?:pyproject\.toml|setup\.cfg)$/,
    parts: (text) => tableParts(text, PYTHON_TABLES),
    suspect: MAKE_RULE,
    wins: true,
  },
  {
    names: /(?:^|\/)(?:(?:GNUm|[Mm])akefile|\.?[Jj]ustfile)$/,
    parts: makeParts,
    suspect: MAKE_RULE,
    wins: true,
  },
  {
    names: /(?:^|\/)(?:composer|deno|turbo|nx|project|angular)\.jsonc?$/,
    parts: jsonParts,
    suspect: /"(?:tests?|check|ci|phpunit|coverage)[^"]*"\s*:/i,
  },
  {
    names: /(?:^|\/)Cargo\.toml$/,
    parts: cargoParts,
    suspect: /^\s*(?:harness|test|doctest|autotests)\s*=|^\s*\[+(?:profile\.test|patch\.)/,
  },
  lines(
    /(?:^|\/)pom\.xml$/,
    /<(?:skipTests|skipITs|skip|maven\.test\.[\w.]+|testFailureIgnore|failIfNoTests|excludedGroups|groups|testSourceDirectory|argLine|rerunFailingTestsCount|haltOnFailure|minimum)>|<(?:exclude|include)>[^<]*(?:Test|Spec|IT\b)/,
  ),
  lines(
    /(?:^|\/)build\.gradle(?:\.kts)?$/,
    /\b(?:ignoreFailures|failFast|maxRetries|(?:in|ex)cludeTestsMatching|useJUnit\w*|haltOnFailure)\b|\b(?:exclude|include)\b.*[Tt]est|withType<Test>|tasks\.(?:test|named\(["']test)|^test\s*\{|\benabled\s*=\s*false|\bonlyIf\b|testClassesDirs|\bminimum\s*=/,
  ),
  lines(
    /(?:^|\/)go\.(?:mod|work)$/,
    /^(?:replace\s+)?(?:github\.com\/(?:stretchr\/testify|onsi\/(?:gomega|ginkgo)|google\/go-cmp|frankban\/quicktest|matryer\/is)|gotest\.tools)\S*.*=>/,
  ),
  lines(
    /(?:^|\/)vite\.config\.[cm]?[jt]s$/,
    /\b(?:test|alias|setupFiles|globalSetup|passWithNoTests|retry|testTimeout|coverage|thresholds?|environment|include|exclude)\s*:/,
    true,
  ),
  lines(
    /(?:^|\/)\.npmrc$/,
    /^(?:script-shell|shell|node-options|ignore-scripts|if-present|prefix)\s*=/,
    true,
  ),
  lines(
    /(?:^|\/)\.yarnrc\.yml$/,
    /^\s*(?:nodeOptions|yarnPath|enableScripts|plugins|injectEnvironmentFiles|path)\s*:/,
    true,
  ),
  lines(/(?:^|\/)\.bazelrc$/, /^(?:test|build|common)\b.*(?:test|runs_per|flaky|filter)/, true),
  lines(
    /(?:^|\/)(?:CMakeLists\.txt|CTestCustom\.cmake)$/,
    /\b(?:enable_testing|add_test|\w+_discover_tests|set_tests_properties|WILL_FAIL|DISABLED|CTEST_\w+)\b/i,
  ),
  lines(
    /\.(?:cs|fs|vb)proj$|(?:^|\/)Directory\.Build\.(?:props|targets)$/,
    /<(?:IsTestProject|VSTest\w*|RunSettings\w*|TreatNoTests\w*)\b|Remove="[^"]*[Tt]est/,
  ),
  lines(
    /(?:^|\/)(?:Rakefile|rakefile\.rb|Taskfile\.ya?ml)$/,
    /\bTestTask\b|\bRakeTask\b|\bt\.(?:pattern|test_files|libs|fail_on_error|rspec_opts)\b|\btask\s+:?(?:test|spec|default)\b|^test\w*:/,
  ),
  lines(/(?:^|\/)tsconfig\.json$/, /"(?:vitest|jest|chai|mocha|node:test|assert)"\s*:\s*\[/),
];

const watchOf = (path: string): Watch | undefined => WATCHES.find(({ names }) => names.test(path));

/** Longest list of texts that is asked for: a patch that changes more is judged from its hunks there. */
const MOST_TEXTS = 400;

/**
 * Changed files whose text on the base `staticGates` wants to see: manifests, to compare their parts; tests and code, to
 * know what the lines of a hunk belong to. Without them more is guessed.
 */
export const watchedFiles = (patch: Patch): readonly string[] =>
  patch.files
    .filter(
      (file) => file.change !== 'added' && file.change !== 'type-changed' && !file.binary && isWatched(file),
    )
    .map((file) => file.path)
    .slice(0, MOST_TEXTS);

const isWatched = ({ path, role }: PatchFile): boolean => {
  if (watchOf(path) !== undefined) return true;
  if (role === 'runner') return false;
  const language = languageOf(path);
  return role === 'test' ? language !== 'other' : language !== 'prose' && language !== 'other';
};

/** Names of the parts of a watched file that decide about tests or build, and that this patch changes. */
export function changedParts(file: PatchFile, baseText: string | undefined): readonly string[] {
  const watch = file.role === 'runner' ? undefined : watchOf(file.path);
  if (!watch || (file.change === 'added' && !watch.wins)) return [];
  if (file.change === 'type-changed') return ['the whole file'];
  if (file.change === 'deleted') return isDecisive(watch, baseText) ? ['the whole file'] : [];
  const base = file.change === 'added' ? '' : baseText;
  const patched = base === undefined ? null : patchedText(file.change === 'added' ? null : base, file);
  return base === undefined || patched?.kind !== 'text'
    ? guessed(file, watch)
    : compared(watch, file.path, base, patched.text);
}

/** In doubt it is. */
const isDecisive = ({ parts }: Watch, baseText: string | undefined): boolean => {
  const found = baseText === undefined ? null : parts(baseText);
  return found === null || [...found.decisive].length > 0;
};

function compared(watch: Watch, path: string, base: string, patched: string): readonly string[] {
  const before = base === '' ? NOTHING : watch.parts(base);
  const after = watch.parts(patched);
  if (before === null) return [];
  if (after === null) return ['its syntax: it is not JSON any more'];
  const known = path.endsWith('package.json') ? packagesOf(base) : [];
  const names = new Set([...before.decisive, ...after.decisive, ...known]);
  return [...names].filter((name) => before.parts.get(name) !== after.parts.get(name));
}

const NOTHING: Parts = { parts: new Map(), decisive: [] };

/** Without the base text: every changed line that could belong to such a part counts. */
function guessed(file: PatchFile, { suspect }: Watch): readonly string[] {
  const changed = file.section.split('\n').filter((line) => /^[+-](?![+-]{2} )/.test(line));
  return changed
    .map((line) => line.slice(1))
    .filter((line) => suspect.test(line))
    .map((line) => line.trim().slice(0, 80));
}

/** Tables that configure tests, and keys that take targets out of them. */
function cargoParts(text: string): Parts {
  const tables = tableParts(text, CARGO_TABLES);
  const parts = new Map(tables.parts);
  const test = parts.get('test');
  // A test that is only listed by name and path is one more test.
  if (test !== undefined && !/\b(?:harness|test|doctest|required-features)\s*=/.test(test))
    parts.delete('test');
  for (const [name, value] of lineParts(text, /^(?:harness|test|doctest|autotests|autobins)\s*=\s*false/)
    .parts)
    parts.set(name, value);
  return { parts, decisive: parts.keys() };
}
