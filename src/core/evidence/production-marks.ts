import { languageOf } from './languages.ts';

interface Mark {
  readonly what: string;
  readonly pattern: RegExp;
}

/** Ends the process in a way that a test runner takes for success; an exit with another code cannot fake one. */
const EXITS: readonly Mark[] = [
  {
    what: 'ends the process (`process.exit`)',
    pattern:
      /\bprocess\s*(?:\.|\[\s*['"`])\s*(?:exit|reallyExit)\b(?!Code)(?!\s*\(\s*[1-9]\d*\s*\))|\bprocess\.exitCode\s*=\s*(?:0|undefined)\b/,
  },
  {
    what: 'ends the process (`sys.exit`, `os._exit`)',
    pattern: /\b(?:sys\.exit|os\._exit)\b(?!\s*\(\s*[1-9]\d*\s*\))|\bSystemExit\b(?!\s*\(\s*[1-9]\d*\s*\))/,
  },
  {
    what: 'ends the process',
    pattern:
      /\bos\.Exit\(\s*0|\bprocess::exit\(\s*0|\bSystem\.exit\(\s*0|\bRuntime\.getRuntime\(\)\.halt\(|\bexitProcess\(\s*0/,
  },
];

/** Asks whether it is being tested. */
const DETECTION: readonly Mark[] = [
  {
    what: "asks for Node's test runner (`NODE_TEST_CONTEXT`)",
    pattern: /\bNODE_TEST_(?:CONTEXT|WORKER_ID)\b/,
  },
  { what: 'asks for vitest (`VITEST`)', pattern: /\bVITEST(?:_[A-Z_]+)?\b|\b__vitest_\w+/ },
  { what: 'asks for jest (`JEST_WORKER_ID`)', pattern: /\bJEST_WORKER_ID\b|\btypeof\s+jest\b/ },
  {
    what: 'asks for pytest',
    pattern:
      /\bPYTEST_(?:CURRENT_TEST|XDIST_\w+|VERSION)\b|['"]pytest['"]\s+(?:not\s+)?in\s+sys\.modules|sys\.modules(?:\.get\(|\[)\s*['"]pytest/,
  },
  {
    what: 'asks whether the environment is a test (`NODE_ENV`)',
    pattern:
      /\bNODE_ENV\b['"\]]*\s*[!=]==?\s*['"`]test['"`]|['"`]test['"`]\s*[!=]==?\s*[\w.[\]'"]*\bNODE_ENV\b/,
  },
  {
    what: 'asks whether it runs in CI (`CI`)',
    pattern:
      /\benv(?:iron)?(?:\.|\[\s*['"`]|\.get\(\s*['"`])CI\b|\b[gG]etenv\(\s*['"]CI['"]|\benv::var\(\s*"CI"/,
  },
  {
    what: 'asks whether it is a test binary',
    pattern: /\btesting\.Testing\(\)|\bflag\.Lookup\(\s*"test\.|\bcfg!\(\s*test\s*\)/,
  },
];

/** Programs of their own end themselves with an exit code; tests do not load them. */
const ENTRY =
  /(?:^|\/)(?:bin|scripts|tools)\/|(?:^|\/)(?:cli|main|__main__|manage|setup)\.\w+$|(?:^|\/)(?:cli|cmd)\//;

/** What is suspicious about a line that was added to production code; null for an ordinary one. */
export function suspicionOf(line: string, path: string): string | null {
  if (languageOf(path) === 'prose') return null;
  const marks = ENTRY.test(path) ? DETECTION : [...DETECTION, ...EXITS];
  return marks.find((mark) => mark.pattern.test(line))?.what ?? null;
}
