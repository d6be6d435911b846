// How many input tokens providers read from their caches, counted on the requests that are sent, as their documentation
// counts (test/world/prompt-caches.ts): each coder of the demo on the demo's issue, a long conversation, which is
// shortened on the way, and one judge's questions about three candidates, with one delimiter for all questions and with
// one for each. `node bench/prompt-caching.ts` prints a table in Markdown; docs/benchmarks.md quotes it.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { work } from '../src/adapters/coders/builtin/loop.ts';
import { comparisonQuestion, identitiesOf } from '../src/core/judging/index.ts';
import type { ModelProtocol } from '../src/core/settings/index.ts';
import { ISSUE, SCRIPTS } from '../src/demo/sample/index.ts';
import { type Scripts, startScriptedModels } from '../src/demo/scripted-models/index.ts';
import { countCached } from '../test/world/prompt-caches.ts';

const SAMPLE = join(import.meta.dirname, '../src/demo/sample/files');
/** Turns of the long conversation, and characters that each command prints. */
const LONG = { turns: 95, chars: 8_000 };

/** Lets the built-in coder work on a copy of the sample, without a sandbox: the models are scripted. */
async function tokensOf(protocol: ModelProtocol, model: string, scripts: Scripts) {
  const root = await mkdtemp(join(tmpdir(), 'runoff-caching-'));
  await cp(SAMPLE, root, { recursive: true });
  const models = await startScriptedModels({ scripts });
  try {
    await work({
      protocol,
      model,
      seed: 0,
      url: models.url,
      key: 'none',
      root,
      instructions: 'Do the task.',
      task: `${ISSUE.title}\n\n${ISSUE.body}`,
      signal: new AbortController().signal,
      emit: () => {},
    });
    const counts = countCached(models.requests);
    const sum = (part: 'input' | 'read' | 'written') => counts.reduce((total, one) => total + one[part], 0);
    return { calls: counts.length, input: sum('input'), read: sum('read'), written: sum('written') };
  } finally {
    await models.close();
    await rm(root, { recursive: true, force: true });
  }
}

const share = (part: number, whole: number) => `${Math.round((100 * part) / whole)}%`;
const row = (name: string, { calls, input, read, written }: Awaited<ReturnType<typeof tokensOf>>) =>
  `| ${name} | ${calls} | ${input} | ${read} (${share(read, input)}) | ${written} |`;
const HEAD = '| | calls | input tokens | read from a cache | written to one |\n|---|--:|--:|--:|--:|';

console.log(HEAD);
for (const [protocol, model] of [
  ['anthropic', 'scripted-heron'],
  ['openai-responses', 'scripted-otter'],
  ['anthropic', 'scripted-mole'],
  ['openai-responses', 'scripted-wren'],
] as const)
  console.log(row(`demo: ${model} (${protocol})`, await tokensOf(protocol, model, SCRIPTS)));

const chatty = {
  kind: 'do',
  text: 'I look.',
  action: { do: 'shell', command: `head -c ${LONG.chars} /dev/zero | tr '\\0' x` },
} as const;
const long: Scripts = {
  'scripted-long': { turns: [...Array(LONG.turns).fill(chatty), { kind: 'text', text: 'Done.' }] },
};
for (const protocol of ['anthropic', 'openai-responses'] as const)
  console.log(
    row(
      `${LONG.turns} commands of ${LONG.chars} characters (${protocol})`,
      await tokensOf(protocol, 'scripted-long', long),
    ),
  );

const MARK = { cache_control: { type: 'ephemeral' } } as const;
/** Characters of the task and of each candidate's patch that the judge reads. */
const TASK_CHARS = 8_000;
const PATCH_CHARS = 4_000;

/** One judge's questions about three candidates, each pair in both orders, as the adapter sends them. */
function judging(protocol: 'anthropic' | 'openai-responses', nonces: 'one' | 'each') {
  const text = (seed: string, chars: number) =>
    `${seed} line of text\n`.repeat(Math.ceil(chars / 15)).slice(0, chars);
  const patchOf = (name: string) => ({
    patch: { production: text(name, PATCH_CHARS), tests: '', lines: [], injections: [] },
    facts: { inputs: [], differences: [] },
  });
  const task = text('task', TASK_CHARS);
  const pairs = ['ab', 'ac', 'bc', 'ba', 'ca', 'cb'];
  const requests = pairs.map(([first = '', second = ''], i) => {
    const nonce = (nonces === 'one' ? '0' : String(i)).repeat(32);
    const question = comparisonQuestion(
      task,
      { first: patchOf(first), second: patchOf(second) },
      identitiesOf([]),
      nonce,
    );
    if (question.kind === 'leak') throw new Error('The question names an author.');
    const [shared, own] = [
      question.text.slice(0, question.sharedChars),
      question.text.slice(question.sharedChars),
    ];
    return protocol === 'anthropic'
      ? {
          path: '/v1/messages',
          body: JSON.stringify({
            system: 'You judge.',
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'text', text: shared, ...(nonces === 'one' ? MARK : {}) },
                  { type: 'text', text: own },
                ],
              },
            ],
          }),
        }
      : { path: '/v1/responses', body: JSON.stringify({ instructions: 'You judge.', input: question.text }) };
  });
  const counts = countCached(requests);
  const sum = (part: 'input' | 'read' | 'written') => counts.reduce((total, one) => total + one[part], 0);
  return { calls: counts.length, input: sum('input'), read: sum('read'), written: sum('written') };
}

for (const protocol of ['anthropic', 'openai-responses'] as const)
  for (const nonces of ['each', 'one'] as const)
    console.log(
      row(
        `judge, ${nonces === 'one' ? 'one delimiter' : 'a delimiter for each question'} (${protocol})`,
        judging(protocol, nonces),
      ),
    );
