import { type Patch, type PatchFile, patchedText } from '../patches/index.ts';
import type { Severity } from './integrity/index.ts';
import { languageOf } from './languages.ts';
import {
  jsonParts,
  lineParts,
  type ManifestParts,
  makeParts,
  packageParts,
  tableParts,
  testPackageNames,
} from './manifests.ts';

/** How to read a production file with parts that control tests or build. */
interface ManifestRule {
  readonly names: RegExp;
  readonly parts: (text: string) => ManifestParts | null;
  /** Changed lines that may belong to such a part; used when the base text is unknown. */
  readonly suspectLine: RegExp;
  /** The tools of the whole repository read a new file of this name. */
  readonly checkedWhenAdded?: boolean;
  /** Whether a part, by its name, is only asked about. */
  readonly asks?: (name: string) => boolean;
}

const WHOLE_FILE = 'the whole file';

/** The name of a line is the line. Lines that only `asks` matches are a question. */
function lineRule(names: RegExp, gates: RegExp, checkedWhenAdded = false, asks?: RegExp): ManifestRule {
  const decides = asks ? new RegExp(`${gates.source}|${asks.source}`) : gates;
  return {
    names,
    parts: (text) => lineParts(text, decides),
    suspectLine: decides,
    checkedWhenAdded,
    ...(asks ? { asks: (name: string) => name !== WHOLE_FILE && !gates.test(name) } : {}),
  };
}
/**
 * What rewrites modules, tests among them, by code of the repository itself. Only a question: bundlers are configured so,
 * too.
 */
const OWN_PLUG_IN =
  /(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*['"]\.{1,2}\/(?![^'"]*\.json['"])|\b(?:transform|load|resolveId|visitor|define)\s*[:(]/;
/** Babel and SWC name their plug-ins by paths alone. */
const OWN_PLUG_IN_BY_PATH = /(?:^|[[(,:])\s*['"]\.{1,2}\//;
const NO_LINE = /(?!)/;
const PYTHON_TABLES =
  /^(?:tool[.:](?:pytest|coverage|tox|nox|hatch\.envs|poe(?!\w)|taskipy|pdm\.scripts)|project\.entry-points[.]"?pytest11|(?:coverage:\w+|aliases|nosetests|unittest)$)/;
const CARGO_TABLES = /^(?:test|profile\.test|patch\.[^\]]*|replace)$/;
const SUSPECT_LINE = /^(?:\[tool[.:]|test|check|build|all)|pytest|testpaths|addopts|python_files/;

/** Manifests read by common tools; the first match counts. */
const MANIFEST_RULES: readonly ManifestRule[] = [
  {
    names: /(?:^|\/)package\.json$/,
    parts: packageParts,
    suspectLine:
      /"(?:(?:pre|post)?(?:test|build|check|install|prepare|pack)[^"]*|jest|vitest|mocha|ava|c8|nyc|tap|scripts)"\s*:/,
  },
  {
    names: /(?:^|\/)(?:pyproject\.toml|setup\.cfg)$/,
    parts: (text) => tableParts(text, PYTHON_TABLES),
    suspectLine: SUSPECT_LINE,
    checkedWhenAdded: true,
  },
  {
    names: /(?:^|\/)(?:(?:GNUm|[Mm])akefile|\.?[Jj]ustfile)$/,
    parts: makeParts,
    suspectLine: SUSPECT_LINE,
    checkedWhenAdded: true,
  },
  {
    names: /(?:^|\/)(?:composer|deno|turbo|nx|project|angular)\.jsonc?$/,
    parts: jsonParts,
    suspectLine: /"(?:tests?|check|ci|phpunit|coverage)[^"]*"\s*:/i,
  },
  {
    names: /(?:^|\/)Cargo\.toml$/,
    parts: cargoParts,
    suspectLine: /^\s*(?:harness|test|doctest|autotests)\s*=|^\s*\[+(?:profile\.test|patch\.)/,
  },
  lineRule(
    /(?:^|\/)pom\.xml$/,
    /<(?:skipTests|skipITs|skip|maven\.test\.[\w.]+|testFailureIgnore|failIfNoTests|excludedGroups|groups|testSourceDirectory|argLine|rerunFailingTestsCount|haltOnFailure|minimum)>|<(?:exclude|include)>[^<]*(?:Test|Spec|IT\b)/,
  ),
  lineRule(
    /(?:^|\/)build\.gradle(?:\.kts)?$/,
    /\b(?:ignoreFailures|failFast|maxRetries|(?:in|ex)cludeTestsMatching|useJUnit\w*|haltOnFailure)\b|\b(?:exclude|include)\b.*[Tt]est|withType<Test>|tasks\.(?:test|named\(["']test)|^test\s*\{|\benabled\s*=\s*false|\bonlyIf\b|testClassesDirs|\bminimum\s*=/,
  ),
  lineRule(
    /(?:^|\/)go\.(?:mod|work)$/,
    /^(?:replace\s+)?(?:github\.com\/(?:stretchr\/testify|onsi\/(?:gomega|ginkgo)|google\/go-cmp|frankban\/quicktest|matryer\/is)|gotest\.tools)\S*.*=>/,
  ),
  lineRule(
    /(?:^|\/)vite\.config\.[cm]?[jt]s$/,
    /\b(?:test|alias|setupFiles|globalSetup|passWithNoTests|retry|testTimeout|coverage|thresholds?|environment|include|exclude)\s*:/,
    true,
    OWN_PLUG_IN,
  ),
  lineRule(
    /(?:^|\/)(?:babel\.config\.[cm]?[jt]s(?:on)?|\.babelrc(?:\.[cm]?js(?:on)?)?|\.swcrc)$/,
    NO_LINE,
    true,
    new RegExp(`${OWN_PLUG_IN.source}|${OWN_PLUG_IN_BY_PATH.source}`),
  ),
  lineRule(
    /(?:^|\/)\.npmrc$/,
    /^(?:script-shell|shell|node-options|ignore-scripts|if-present|prefix)\s*=/,
    true,
  ),
  lineRule(
    /(?:^|\/)\.yarnrc\.yml$/,
    /^\s*(?:nodeOptions|yarnPath|enableScripts|plugins|injectEnvironmentFiles|path)\s*:/,
    true,
  ),
  lineRule(/(?:^|\/)\.bazelrc$/, /^(?:test|build|common)\b.*(?:test|runs_per|flaky|filter)/, true),
  lineRule(
    /(?:^|\/)(?:CMakeLists\.txt|CTestCustom\.cmake)$/,
    /\b(?:enable_testing|add_test|\w+_discover_tests|set_tests_properties|WILL_FAIL|DISABLED|CTEST_\w+)\b/i,
  ),
  lineRule(
    /\.(?:cs|fs|vb)proj$|(?:^|\/)Directory\.Build\.(?:props|targets)$/,
    /<(?:IsTestProject|VSTest\w*|RunSettings\w*|TreatNoTests\w*)\b|Remove="[^"]*[Tt]est/,
  ),
  lineRule(
    /(?:^|\/)(?:Rakefile|rakefile\.rb|Taskfile\.ya?ml)$/,
    /\bTestTask\b|\bRakeTask\b|\bt\.(?:pattern|test_files|libs|fail_on_error|rspec_opts)\b|\btask\s+:?(?:test|spec|default)\b|^test\w*:/,
  ),
  lineRule(/(?:^|\/)tsconfig\.json$/, /"(?:vitest|jest|chai|mocha|node:test|assert)"\s*:\s*\[/),
];

const manifestRuleFor = (path: string): ManifestRule | undefined =>
  MANIFEST_RULES.find(({ names }) => names.test(path));

/** Maximum texts that are requested: beyond that, patches are judged from hunks. */
const MAX_BASE_TEXTS = 400;

/**
 * Changed files whose base texts `staticGates` needs: manifests, to compare their parts; tests and code, to locate
 * the lines of a hunk. Without them findings rely on hunks alone.
 */
export const filesToCompare = (patch: Patch): readonly string[] =>
  patch.files
    .filter(
      (file) =>
        file.change !== 'added' && file.change !== 'type-changed' && !file.binary && isToCompare(file),
    )
    .map((file) => file.path)
    .slice(0, MAX_BASE_TEXTS);

const isToCompare = ({ path, role }: PatchFile): boolean => {
  if (manifestRuleFor(path) !== undefined) return true;
  if (role === 'runner') return false;
  const language = languageOf(path);
  return role === 'test' ? language !== 'other' : language !== 'prose' && language !== 'other';
};

/** A part of a watched file that controls tests or build and that a patch changes. */
interface ChangedPart {
  readonly name: string;
  /** What it means: the examination uses the candidate's version of these files. */
  readonly severity: Severity;
}

const asGates = (names: readonly string[]): readonly ChangedPart[] =>
  names.map((name) => ({ name, severity: 'gate' }));

/** The parts of a watched file that control tests or build and that this patch changes. */
export function changedParts(file: PatchFile, baseText: string | undefined): readonly ChangedPart[] {
  const watch = file.role === 'runner' ? undefined : manifestRuleFor(file.path);
  if (!watch) return [];
  return partsChangedIn(watch, file, baseText).map((part) =>
    watch.asks?.(part.name) ? { ...part, severity: 'question' } : part,
  );
}

function partsChangedIn(
  watch: ManifestRule,
  file: PatchFile,
  baseText: string | undefined,
): readonly ChangedPart[] {
  if (file.change === 'added' && !watch.checkedWhenAdded) return [];
  if (file.change === 'type-changed') return asGates([WHOLE_FILE]);
  if (file.change === 'deleted') return asGates(isDecisive(watch, baseText) ? [WHOLE_FILE] : []);
  const base = file.change === 'added' ? '' : baseText;
  const patched = base === undefined ? null : patchedText(file.change === 'added' ? null : base, file);
  return base === undefined || patched?.kind !== 'text'
    ? asGates(changedSuspectLines(file, watch))
    : changedDecisiveParts(watch, file.path, base, patched.text);
}

/** True in doubt. */
const isDecisive = ({ parts }: ManifestRule, baseText: string | undefined): boolean => {
  const found = baseText === undefined ? null : parts(baseText);
  return found === null || [...found.decisive].length > 0;
};

function changedDecisiveParts(
  watch: ManifestRule,
  path: string,
  base: string,
  patched: string,
): readonly ChangedPart[] {
  const before = base === '' ? NO_PARTS : watch.parts(base);
  const after = watch.parts(patched);
  if (before === null) return [];
  if (after === null) return asGates(['its syntax: it is no longer valid JSON']);
  const known = path.endsWith('package.json') ? testPackageNames(base) : [];
  const decisive = new Set([...before.decisive, ...after.decisive]);
  return [...new Set([...decisive, ...known])]
    .filter((name) => before.parts.get(name) !== after.parts.get(name))
    .map((name) => ({ name, severity: partSeverity(name, before, decisive) }));
}

/** Environments that only `tox -e NAME` and its like start, apart from those that the others are made from. */
const NAMED_ENVIRONMENT =
  /^tool[.:](?:tox\.env|hatch\.envs|poe\.tasks|taskipy\.tasks|pdm\.scripts)\.(?!(?:default|test)\b)[^.]+/;
/** They take effect once packages are installed anew, and the tests of a plug-in for pytest load the plug-in itself. */
const PLUG_INS = /^project\.entry-points\./;
/** Scripts that start only if somebody names them; those that the test script names change with it. */
const NAMED_SCRIPT = /^scripts\.(?:test|check|build)[:.-]/;

function partSeverity(name: string, before: ManifestParts, decisive: ReadonlySet<string>): Severity {
  // The base's test command cannot name what the base does not have.
  if (!before.parts.has(name) && (NAMED_ENVIRONMENT.test(name) || NAMED_SCRIPT.test(name))) return 'note';
  if (NAMED_ENVIRONMENT.test(name) || PLUG_INS.test(name)) return 'question';
  // Another version of a test package from its registry is not decisive.
  return decisive.has(name) ? 'gate' : 'question';
}

const NO_PARTS: ManifestParts = { parts: new Map(), decisive: [] };

/** Without the base text, every changed line that may belong to such a part counts. */
function changedSuspectLines(file: PatchFile, { suspectLine }: ManifestRule): readonly string[] {
  const changed = file.section.split('\n').filter((line) => /^[+-](?![+-]{2} )/.test(line));
  return changed
    .map((line) => line.slice(1))
    .filter((line) => suspectLine.test(line))
    .map((line) => line.trim().slice(0, 80));
}

/** Tables that configure tests, and keys that exclude targets from them. */
function cargoParts(text: string): ManifestParts {
  const tables = tableParts(text, CARGO_TABLES);
  const parts = new Map(tables.parts);
  const test = parts.get('test');
  // A test listed by name and path only is an additional test.
  if (test !== undefined && !/\b(?:harness|test|doctest|required-features)\s*=/.test(test))
    parts.delete('test');
  for (const [name, value] of lineParts(text, /^(?:harness|test|doctest|autotests|autobins)\s*=\s*false/)
    .parts)
    parts.set(name, value);
  return { parts, decisive: parts.keys() };
}
