/** Rules that a linter finds broken, with one finding of each. */
export type BrokenRules = Readonly<Record<string, LintFinding>>;

export interface LintFinding {
  /** The line of the output, with the file. */
  readonly text: string;
  /** It does not fail the command by itself. Absent otherwise. */
  readonly warning?: true;
}

/** Characters of one line that are read, of a finding that is kept, and rules of one run. Our defaults. */
const MAX_READ_LINE_CHARS = 2_000;
const MAX_FINDING_CHARS = 200;
const MAX_RULES = 500;

/** One line of a linter's output that names a rule. */
interface RuleLine {
  readonly rule: string;
  readonly isWarning: boolean;
}

/** ESLint, XO, stylelint and Next: below the file, the place, the message and, behind spaces, the rule. */
const BELOW_FILE =
  /^\s*(?:(?<mark>[✖×⚠])\s*)?\d+:\d+\s+(?:(?<after>[✖×⚠])\s*)?(?:(?<severity>error|warning):?\s+)?(?<text>\S.*)$/iu;
/** A file alone on a line; XO adds the place of its first finding. An empty line ends its findings. */
const FILE_LINE = /^\s*(\/\S.*|\S.*\.\w+?)(?::\d+:\d+)?$/;
/** The form of compilers. Biome writes the rule in place of the message. */
const WITH_FILE = /^\s*(?<file>[^\s:[][^:]*):\d+(?::\d+)?:?\s+(?<text>[^\s[-].*)$/;
/** Where the rule is then: pylint, Flake8, Ruff and markdownlint; RuboCop; Biome; standard and golangci-lint. */
const RULES_IN_TEXT: readonly RegExp[] = [
  /^(?:(?<severity>error|warning) )?(?<rule>[A-Z]{1,6}\d{2,5})\b/,
  /^[CWEFR]: (?:\[Correctable\] )?(?<rule>[A-Z]\w{0,60}(?:\/\w{1,60}){1,4}):/,
  /^(?<rule>(?:lint|assist)\/[\w/]{1,100})/,
  /\((?<rule>[@a-z][\w@/.-]{0,100})\)(?: \((?<severity>warning)\))?$/,
];
/** Lines without a place: Oxlint; Ruff; Biome's formatter; Prettier, which has one rule. */
const WITHOUT_PLACE: readonly RegExp[] = [
  /^\s*(?<severity>[×⚠x!]) (?<rule>[\w-]{1,60}\([\w/@.-]{1,100}\)):/u,
  /^(?<rule>[A-Z]{1,6}\d{2,5}) (?:\[\*\] )?\S/,
  /^\S+ (?<rule>format|organizeImports|assist\/\w{1,60}) ━/u,
  /^\[(?:warn|error)\] \S+\.\w{1,20}(?<rule>)$/,
];
const NOT_FORMATTED = 'format';
/** What ESLint says of a file in which it checks no rule. */
const UNREADABLE_FILE = 'Parsing error';
const WARNINGS: ReadonlySet<string | undefined> = new Set(['warning', '⚠', '!']);
/** Biome says in a line of its own how severe the finding above is. */
const SEVERITY_BELOW = /^\s+(?<mark>[×✖!⚠iℹ]) /u;
const ERRORS: ReadonlySet<string | undefined> = new Set(['×', '✖']);
const BIOME_HEADING = / ━/u;
const BELONGS_TO_BIOME = /^(?:lint|assist)\//;
/** Biome prints 20 findings by default. */
const LEAVES_OUT = /^(?:Diagnostics not shown: \d|The number of diagnostics exceeds)/;

/** tsc colours its output if its configuration says so; Biome also puts links around the names of rules. */
const COLOURS_AND_LINKS = /\p{Cc}(?:\[[\d;]*m|\]8;;[^\p{Cc}]*\p{Cc}\\?)/gu;

/** The lines of a checker's output, cut and without colours and spaces at their end. */
export const outputLines = (output: string): readonly string[] =>
  output
    .split('\n')
    .map((line) => line.slice(0, MAX_READ_LINE_CHARS).replace(COLOURS_AND_LINKS, '').trimEnd());

/**
 * The rules that a linter finds broken, by its output. Null if it names none, too many, or not all: those that are left
 * out might be new ones.
 */
export function brokenRules(output: string): BrokenRules | null {
  const rules = new Map<string, LintFinding>();
  let file = '';
  let unrated: string | null = null;
  for (const line of outputLines(output)) {
    if (LEAVES_OUT.test(line)) return null;
    unrated = rated(rules, unrated, line);
    file = line === '' ? '' : (FILE_LINE.exec(line)?.[1] ?? file);
    const found = ruleIn(line, file);
    if (found === null) continue;
    const isBiome = BELONGS_TO_BIOME.test(found.rule);
    if (isBiome) unrated = found.rule;
    addFinding(rules, { ...found, isWarning: found.isWarning || isBiome }, findingText(line, file));
    if (rules.size > MAX_RULES) return null;
  }
  return rules.size > 0 ? Object.fromEntries(rules) : null;
}

/** Notes how severe Biome's last finding is, if this line says it. Returns its rule while that is not known. */
function rated(rules: Map<string, LintFinding>, unrated: string | null, line: string): string | null {
  if (unrated === null || BIOME_HEADING.test(line)) return null;
  const mark = SEVERITY_BELOW.exec(line)?.groups?.mark;
  if (mark === undefined) return unrated;
  const finding = rules.get(unrated);
  if (finding && ERRORS.has(mark)) rules.set(unrated, { text: finding.text });
  return null;
}

/** A rule may warn in one place and fail in another: then it fails. */
function addFinding(rules: Map<string, LintFinding>, { rule, isWarning }: RuleLine, text: string): void {
  const before = rules.get(rule);
  if (before && (isWarning || !before.warning)) return;
  const finding = { text: text.slice(0, MAX_FINDING_CHARS) };
  rules.set(rule, isWarning ? { ...finding, warning: true } : finding);
}

const findingText = (line: string, file: string): string => {
  const text = line
    .trim()
    .replaceAll(/\s{2,}/g, ' ')
    .replace(/ ━+$/u, '');
  return file !== '' && BELOW_FILE.test(line) ? `${file} ${text}` : text;
};

function ruleIn(line: string, file: string): RuleLine | null {
  const below = file === '' ? undefined : BELOW_FILE.exec(line)?.groups;
  if (below) {
    const { text = '', severity, mark, after } = below;
    const rule = lastColumn(text) ?? (text.startsWith(UNREADABLE_FILE) ? UNREADABLE_FILE : null);
    const marks = [severity?.toLowerCase(), mark, after];
    return rule === null ? null : { rule, isWarning: marks.some((one) => WARNINGS.has(one)) };
  }
  const text = WITH_FILE.exec(line)?.groups?.text;
  return text === undefined ? firstRule(WITHOUT_PLACE, line) : firstRule(RULES_IN_TEXT, text);
}

/** What stands behind the last two spaces; null if that is no name. */
function lastColumn(text: string): string | null {
  const at = text.lastIndexOf('  ');
  const last = at < 0 ? '' : text.slice(at + 2);
  return /^[@\w][\w@/.-]{0,100}$/.test(last) ? last : null;
}

function firstRule(forms: readonly RegExp[], text: string): RuleLine | null {
  for (const form of forms) {
    const { rule, severity } = form.exec(text)?.groups ?? {};
    if (rule !== undefined) return { rule: rule || NOT_FORMATTED, isWarning: WARNINGS.has(severity) };
  }
  return null;
}
