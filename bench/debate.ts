// What a debate costs: calls, tokens and dollars for each of the cases that debates come to, with scripted critics at the
// price of a model of middling price. Tokens in are those of the prompts as they are sent; tokens out are those of short
// answers, so that real models write more. Run as any user would: `runoff debate` on standard input. CASES: only as many,
// from the first.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCRIPTED_PRICES } from '../src/demo/sample/index.ts';
import { type Script, startScriptedModels } from '../src/demo/scripted-models/index.ts';

const LINE = '- A comma inside a quoted field belongs to the field.';
const SPEC = `## Goal

Quoted fields of a CSV file are read as RFC 4180 says.

## Done means

${LINE}
- Two quotes inside a quoted field are one quote.
- Files without quotes are read as before.

## Plan

- Write failing tests for each statement.
- Replace the splitting by a parser.
`;

const ISSUE = {
  title: 'Line breaks are not said',
  quote: LINE,
  severity: 'blocking',
  scenario: 'A note with a line break inside quotes is imported, and the row is refused.',
  edit: '- A line break inside a quoted field belongs to the field.',
  needsHuman: false,
};
const CONTENT = { issues: [], rechecked: [], approved: true };
const PRESSED = {
  ...CONTENT,
  checks: ['commas are settled by the first line', 'quotes by the second', 'old files by the third'],
  test: { given: 'the line a,"b,c"', expect: 'two fields', catches: 'splitting at every comma' },
};
const verdict = (word: 'accept' | 'reject') => ({
  verdicts: [{ issue: 'I1', verdict: word, because: 'The task says so.' }],
  edits: word === 'accept' ? [{ issue: 'I1', find: LINE, replace: `${LINE}\n${ISSUE.edit}` }] : [],
});

/** Both words of a title, in whatever order a protocol sends them. */
const both = (title: string, words: string) => new RegExp(`(?=.*${title})(?=.*${words})`);
const FIRST = '(?=.*somebody could test the finished work)(?=.*critique of the whole spec)';
const STANDS = {
  issues: [],
  rechecked: [{ issue: 'I1', stands: true, because: 'Not so.' }],
  approved: false,
};

const FAULTY = { issues: [ISSUE], rechecked: [], approved: false };

const answers: NonNullable<Script['answers']> = [
  { holds: both('Case fixed', 'You keep a spec'), structured: verdict('accept') },
  { holds: both('Case contested', 'You keep a spec'), structured: verdict('reject') },
  { holds: /REJECTED[\s\S]*I1 \(blocking\)/, structured: STANDS },
  { holds: new RegExp(`(?=.*Case (fixed|contested))${FIRST}`, 's'), structured: FAULTY },
  { holds: 'You approved this spec. Before that counts', structured: PRESSED },
  { holds: 'You are one of several critics', structured: CONTENT },
];
const script: Script = { turns: [{ kind: 'status', status: 404 }], answers };

const MODELS = 'anthropic/scripted-heron,openai/scripted-otter';
const CASES: readonly (readonly [name: string, title: string, flags: readonly string[]])[] = [
  ['three critics agree when challenged', 'Case clear', []],
  [
    'five critics agree when challenged',
    'Case clear',
    ['--personas', 'qa,product,security,oncall,performance'],
  ],
  ['one defect, fixed', 'Case fixed', []],
  ['one dissenter', 'Case contested', []],
  [
    'one failed critic',
    'Case clear',
    ['--models', 'anthropic/scripted-heron,openai/scripted-mole', '--rounds', '2'],
  ],
  ['almost no budget', 'Case fixed', ['--budget', '0.01']],
];

interface Ended {
  readonly stop: string;
  readonly rounds: readonly unknown[];
  readonly cost: { readonly inputTokens: number; readonly outputTokens: number; readonly usd: number };
}

function debate(env: NodeJS.ProcessEnv, title: string, flags: readonly string[]): Promise<Ended> {
  const main = join(import.meta.dirname, '../src/main.ts');
  const child = spawn(process.execPath, [main, 'debate', '--json', '--fresh', '--models', MODELS, ...flags], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(`# ${title}\n\n${SPEC}`);
  let out = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 || code === 3
        ? resolve(JSON.parse(out) as Ended)
        : reject(new Error(`${title} ended with ${code}`)),
    );
  });
}

const home = mkdtempSync(join(tmpdir(), 'runoff-debate-'));
chmodSync(home, 0o711);
const models = await startScriptedModels({
  scripts: { 'scripted-heron': script, 'scripted-otter': script },
});
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  RUNOFF_DATA: join(home, 'data'),
  ANTHROPIC_API_KEY: 'scripted-key-for-anthropic',
  ANTHROPIC_BASE_URL: models.url,
  OPENAI_API_KEY: 'scripted-key-for-openai',
  OPENAI_BASE_URL: `${models.url}/v1`,
  MODEL_PRICES: JSON.stringify(SCRIPTED_PRICES),
};
try {
  const rows: object[] = [];
  for (const [name, title, flags] of CASES.slice(0, Number(process.env.CASES ?? CASES.length))) {
    const before = models.requests.length;
    const ended = await debate(env, title, flags);
    rows.push({
      case: name,
      stop: ended.stop,
      rounds: ended.rounds.length,
      calls: models.requests.length - before,
      'tokens in': ended.cost.inputTokens,
      'tokens out': ended.cost.outputTokens,
      cost: `$${ended.cost.usd.toFixed(4)}`,
    });
  }
  console.table(rows);
} finally {
  await models.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
