import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openContests } from '../../src/adapters/arena/index.ts';
import { lockFile } from '../../src/adapters/git/index.ts';
import { generatedText, generateLine } from '../../src/cli/render/index.ts';
import type { Sample } from '../../src/core/arena/index.ts';
import { Fault, NO_USAGE, type Usage } from '../../src/core/model/index.ts';
import type {
  CapName,
  ContestFolder,
  Grant,
  Lease,
  TextAnswer,
  TextQuestion,
} from '../../src/ports/index.ts';
import {
  type GenerateEvent,
  type GeneratePorts,
  generateSamples,
  loadContest,
} from '../../src/runs/index.ts';
import { partial } from '../world/partial.ts';

const CONTEST = `version: 1
name: first
prompts: { short: Be brief., long: Tell all. }
contestants: { prompts: [short, long], models: [a/one, b/two] }
tasks:
  - { id: greet, kind: text, prompt: Say hello. }
  - { id: leave, kind: text, prompt: Say goodbye. }
limits: { parallel: 1, time: 60s }
`;

const said = (text: string, more: Partial<Extract<TextAnswer, { kind: 'text' }>> = {}): TextAnswer => ({
  kind: 'text',
  text,
  end: 'stop',
  temperatureIgnored: false,
  ...more,
});

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'runoff-arena-'));
  await writeFile(join(dir, 'contest.yml'), CONTEST);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

interface Told {
  readonly asked: TextQuestion[];
  readonly events: GenerateEvent[];
  readonly grants: Grant[];
  readonly slept: number[];
}

/** Runs `gen` with models that answer through `speak`; the lease may say that a cap was reached. */
async function gen(
  speak: (question: TextQuestion) => TextAnswer | { readonly cap: CapName },
  more: {
    readonly folder?: (folder: ContestFolder) => ContestFolder;
    readonly newVersion?: boolean;
    readonly rounds?: number;
    readonly seed?: number;
    /** Paid for the samples of an earlier process, by their ids. */
    readonly ledger?: Map<string, Usage>;
  } = {},
) {
  const told: Told = { asked: [], events: [], grants: [], slept: [] };
  let cap: CapName | null = null;
  const ledger = more.ledger ?? new Map<string, Usage>();
  const usageOf = (spender: string): Usage => ledger.get(spender) ?? NO_USAGE;
  const leaseOf = (spender: string) =>
    partial<Lease>({
      key: spender,
      usage: () => usageOf(spender),
      capReached: () => cap,
      refusal: () => null,
      close: async () => {},
    });
  const ports = partial<GeneratePorts>({
    gateway: {
      route: () => ({ protocol: 'openai-chat', model: 'x' }),
      open: async (grant) => {
        told.grants.push(grant);
        return leaseOf(grant.spender);
      },
      estimate: () => 1,
    },
    texts: {
      write: async (question: TextQuestion) => {
        told.asked.push(question);
        // Others are asked meanwhile.
        await Promise.resolve();
        const answer = speak(question);
        if ('kind' in answer) {
          if (answer.kind === 'text')
            ledger.set(question.lease.key, { usd: 0.01, tokensIn: 3, tokensOut: 2, calls: 1 });
          return answer;
        }
        cap = answer.cap;
        return { kind: 'failed', why: 'The budget is used up.' };
      },
    },
    clock: {
      now: () => 0,
      elapsed: () => 0,
      sleep: async (ms: number, signal?: AbortSignal) => {
        told.slept.push(ms);
        // The time limit of an answer is over only when the answer has come.
        if (ms === 60_000)
          await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
      },
    },
    store: {
      usage: async (_: string, spender?: string) =>
        spender === undefined
          ? { ...NO_USAGE, usd: [...ledger.values()].reduce((sum, { usd }) => sum + usd, 0) }
          : usageOf(spender),
      spendingOf: async () =>
        [...ledger].map(([spender, usage]) => ({ ...usage, spender, model: 'x', ms: 0, estimated: 0 })),
    },
    random: { nonce: () => randomBytes(16).toString('hex') },
    parallelChecks: 1,
    ceilings: { budgetRun: 10, budgetCandidate: 5, candidates: 16, timeoutCandidateSeconds: 7200 },
  });
  const opened = await openContests({ dir, dataDir: join(dir, 'data'), lock: lockFile }).open(dir, 'write');
  const folder = more.folder?.(opened) ?? opened;
  try {
    const { rounds, seed } = more;
    const loaded = await loadContest(folder, {
      variants: new Map<string, string>(),
      ...(rounds === undefined ? {} : { rounds }),
      ...(seed === undefined ? {} : { seed }),
    });
    const made = await generateSamples(ports, folder, loaded, {
      version: '1',
      trust: false,
      newVersion: more.newVersion ?? false,
      tell: (event) => told.events.push(event),
      signal: new AbortController().signal,
    });
    return { ...told, made };
  } finally {
    await opened.close();
  }
}

const samples = async (): Promise<readonly Sample[]> =>
  (await readFile(join(dir, 'samples.jsonl'), 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Sample);

const isTwo = ({ instructions }: TextQuestion): boolean => instructions === 'Tell all.';

test('every contestant gets its instructions, the prompt of the task, temperature and seed', async () => {
  const { asked, made } = await gen(() => said('Hello.'));
  expect(made).toMatchObject({ done: 8, total: 8, made: 8, reused: 0, unasked: [], usd: 0.08 });
  expect(asked[0]).toMatchObject({
    instructions: 'Be brief.',
    messages: [{ role: 'user', content: 'Say hello.' }],
    temperature: 0,
    seed: 1,
    maxTokens: 16_000,
  });
  expect((await samples())[0]).toMatchObject({
    contestant: 'short/a/one',
    outcome: 'answered',
    answer: 'Hello.',
    form: 'text',
    parameters: { temperature: 0 },
    price: { input: 1, output: 1 },
    usage: { usd: 0.01 },
    versions: { runoff: '1' },
  });
});

test('a provider that fails leaves nothing behind: the sample is made the next time', async () => {
  const first = await gen((question) =>
    isTwo(question) ? { kind: 'failed', why: 'It is down.' } : said('Hello.'),
  );
  expect(first.made).toMatchObject({ done: 4, total: 8, made: 4 });
  expect(first.made.unasked).toHaveLength(4);
  expect(first.events.filter(({ kind }) => kind === 'unasked')).toHaveLength(4);
  const [unasked] = first.events.filter(({ kind }) => kind === 'unasked').map((one) => generateLine(one, 5));
  expect(unasked).toBe('not asked: greet  long/a/one  It is down.');
  expect(await samples()).toHaveLength(4);
  const second = await gen(() => said('Hello.'));
  expect(second.made).toMatchObject({ done: 8, total: 8, made: 4, unasked: [] });
  expect(second.asked.every(isTwo)).toBe(true);
});

const MONEY = 'what a contest pays for';

test('a model that accepts no temperature is not asked in vain for ever: the reason says what to write', async () => {
  const why = 'The model provider answered with HTTP 400. It says: temperature is not supported.';
  const { made } = await gen(() => ({ kind: 'failed', why }));
  expect(made.unasked[0]?.why).toBe(
    `${why} If the model accepts no temperature, set \`temperature: default\` in contest.yml.`,
  );
  const text = generatedText(made, { name: 'first', next: 'vote' });
  expect(text).toContain('8 samples are missing: The model provider');
  expect(generatedText({ ...made, unasked: [] }, { name: 'first', next: 'report' })).toContain(
    'Next: runoff arena report first',
  );
});

test(`${MONEY}: equal questions that are asked at the same time are asked once`, async () => {
  const twins = CONTEST.replace('long: Tell all.', 'long: Be brief.').replace('parallel: 1', 'parallel: 8');
  await writeFile(join(dir, 'contest.yml'), twins);
  const { asked, made, events } = await gen(() => said('Hello.'));
  expect(asked).toHaveLength(4);
  expect(made).toMatchObject({ done: 8, made: 8, reused: 4, usd: 0.04 });
  const told = events.flatMap((one) => (one.kind === 'sample' ? [[one.done, one.usd.toFixed(2)]] : []));
  expect(told.map(([done]) => done)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(told.at(-1)).toEqual([8, '0.04']);
});

test(`${MONEY}: a twin of a question that failed is asked itself`, async () => {
  const twins = CONTEST.replace('long: Tell all.', 'long: Be brief.').replace('parallel: 1', 'parallel: 8');
  await writeFile(join(dir, 'contest.yml'), twins);
  let calls = 0;
  const { made } = await gen(() => (++calls <= 4 ? { kind: 'failed', why: 'It is down.' } : said('Hello.')));
  expect(calls).toBe(8);
  expect(made).toMatchObject({ made: 4, reused: 0 });
});

test(`${MONEY}: a folder that was moved or copied is the same contest to the ledger`, async () => {
  const first = await gen(() => said('Hello.'));
  const [payer] = first.grants.map(({ runId }) => runId);
  await writeFile(join(dir, 'contest.yml'), CONTEST.replace('Say goodbye.', 'Say farewell.'));
  const moved = await mkdtemp(join(tmpdir(), 'runoff-moved-'));
  await cp(dir, moved, { recursive: true });
  await rm(dir, { recursive: true });
  dir = moved;
  const second = await gen(() => said('Bye.'));
  expect(second.grants.length).toBeGreaterThan(0);
  expect(new Set(second.grants.map(({ runId }) => runId))).toEqual(new Set([payer]));
});

test(`${MONEY}: what the samples cost counts although the ledger has never seen them`, async () => {
  await gen(() => said('Hello.'));
  await rm(join(dir, 'contest.id'));
  await writeFile(join(dir, 'contest.yml'), CONTEST.replace('Say goodbye.', 'Say farewell.'));
  const second = await gen(() => said('Bye.'));
  expect(second.grants.map(({ runCapUsd }) => runCapUsd.toFixed(2))).toEqual(Array(4).fill('4.92'));
  expect(second.made.usd).toBeCloseTo(0.12);
  await writeFile(join(dir, 'contest.id'), 'mine\n');
  await expect(gen(() => said('x'))).rejects.toThrow(
    'contest.id: The id of the contest must be 32 hex digits.',
  );
});

test(`${MONEY}: what this machine spent on judges does not hide what another one spent on samples`, async () => {
  await gen(() => said('Hello.'));
  await writeFile(join(dir, 'contest.yml'), CONTEST.replace('Say goodbye.', 'Say farewell.'));
  const capWith = async (...usd: readonly number[]) => {
    const judges = usd.map((one, at): [string, Usage] => [`judge ${at}`, { ...NO_USAGE, usd: one }]);
    const { grants } = await gen(() => ({ kind: 'failed', why: 'It is down.' }), { ledger: new Map(judges) });
    return grants[0]?.runCapUsd.toFixed(2);
  };
  expect([await capWith(), await capWith(0.05), await capWith(2, 1)]).toEqual(Array(3).fill('4.92'));
  // What stands in both is one answer.
  const known = new Map((await samples()).map(({ id, usage }) => [id, usage]));
  const again = await gen(() => ({ kind: 'failed', why: 'It is down.' }), { ledger: known });
  expect(again.grants[0]?.runCapUsd).toBe(5);
});

test('the time of an answer that an earlier process paid for is not known', async () => {
  await gen(() => said('Hello.'));
  const [id = ''] = (await samples()).map((one) => one.id);
  expect((await samples())[0]?.seconds).toBe(0);
  await rm(join(dir, 'samples.jsonl'));
  const paid = { usd: 0.01, tokensIn: 3, tokensOut: 2, calls: 1 };
  const { made } = await gen(() => said('Hello.'), { ledger: new Map([[id, paid]]) });
  expect((await samples()).map((one) => one.seconds)).toEqual([null, ...Array(7).fill(0)]);
  expect(made.usd).toBeCloseTo(0.08);
});

test('a seed of the command line makes samples of the same version, each with its seed', async () => {
  await gen(() => said('Hello.'));
  await rm(join(dir, 'samples.jsonl'));
  const { asked, made } = await gen(() => said('Hello.'), { seed: 7 });
  expect(asked.map(({ seed }) => seed)).toEqual(Array(8).fill(7));
  expect(new Set((await samples()).map((one) => one.seed))).toEqual(new Set([7]));
  expect((await gen(() => said('Hello.'))).made).toMatchObject({ done: 8, made: 0 });
  expect(made.made).toBe(8);
});

test('once the budget is used up, nobody else is asked', async () => {
  const { asked, made } = await gen(() => ({ cap: 'run' }));
  expect(asked).toHaveLength(1);
  expect(made.unasked).toHaveLength(8);
  expect(new Set(made.unasked.map(({ why }) => why))).toEqual(new Set(['The budget is used up.']));
});

test('a refusal, an empty and a cut answer are outcomes; a temperature that did not apply is not recorded', async () => {
  const answers = [
    said('I will not.', { end: 'refused' }),
    said(' '),
    said('Once upon a', { end: 'length' }),
    said('Hello.', { temperatureIgnored: true }),
  ];
  await gen(() => answers.shift() ?? said('Hello.'));
  expect((await samples()).slice(0, 4).map(({ outcome, why, answer }) => [outcome, why, answer])).toEqual([
    ['refused', 'The model refused to answer.', 'I will not.'],
    ['failed', 'The model answered nothing.', null],
    ['failed', 'The answer was cut at `limits.tokens`.', 'Once upon a'],
    ['answered', null, 'Hello.'],
  ]);
  expect((await samples())[3]?.parameters.temperature).toBeNull();
});

test('while the disk is full, an answer that was paid for waits and is not lost', async () => {
  let full = 2;
  const { slept, events, made } = await gen(() => said('Hello.'), {
    folder: (folder) => ({
      ...folder,
      append: async (file, line) => {
        if (full-- > 0) throw new Fault('DISK_FULL', 'There is no space left.');
        await folder.append(file, line);
      },
    }),
  });
  expect(made).toMatchObject({ done: 8, made: 8 });
  expect(slept.filter((ms) => ms === 5_000)).toHaveLength(2);
  expect(events.filter(({ kind }) => kind === 'note')).toEqual([
    { kind: 'note', text: 'There is no space left. Waiting until there is some.' },
  ]);
});

const vote = (contest: string, at: string, [left, right]: readonly string[]): string =>
  `${JSON.stringify({
    version: 1,
    kind: 'vote',
    id: 'v0000000000000001',
    contest,
    task: 'greet',
    left,
    right,
    verdict: 'left',
    by: { kind: 'person', name: 'ann' },
    resultsShown: false,
    at,
  })}\n`;

test('a contest that changed after votes goes on only as a new version, which pays only for what is new', async () => {
  await gen(() => said('Hello.'));
  const [one, two] = await samples();
  const ids = [one?.id ?? '', two?.id ?? ''];
  await writeFile(join(dir, 'votes.jsonl'), vote(one?.contest ?? '', '2026-01-01T00:00:00Z', ids));
  await writeFile(join(dir, 'contest.yml'), CONTEST.replace('Tell all.', 'Tell everything.'));
  await expect(gen(() => said('Hello.'))).rejects.toMatchObject({
    code: 'CONTEST_CHANGED',
    message: expect.stringContaining('after 1 vote was cast'),
  });
  const changed = await gen(() => said('Hi.'), { newVersion: true });
  expect(changed.made).toMatchObject({ done: 8, total: 8, made: 8, reused: 4 });
  expect(changed.asked).toHaveLength(4);
  const reused = (await samples()).filter(({ reusedFrom }) => reusedFrom !== null);
  expect(reused.map(({ answer, usage }) => [answer, usage.usd])).toEqual(Array(4).fill(['Hello.', 0.01]));
  // Whoever agreed is not asked again.
  expect((await gen(() => said('Hi.'))).made).toMatchObject({ made: 0 });
});

test('a process that was killed within a character of a line does not end the contest', async () => {
  await gen(() => said('Hello 😀.'));
  const file = join(dir, 'samples.jsonl');
  const bytes = await readFile(file);
  await writeFile(file, bytes.subarray(0, bytes.lastIndexOf(Buffer.from('😀')) + 2));
  expect((await gen(() => said('Hello 😀.'))).made).toMatchObject({ done: 8, made: 1 });
  expect(await samples()).toHaveLength(8);
});

test('what is wrong with the files of a contest is said with file and line', async () => {
  await writeFile(join(dir, 'samples.jsonl'), '{"version":1}\n');
  await expect(gen(() => said('x'))).rejects.toMatchObject({
    code: 'CONTEST_INVALID',
    message: expect.stringMatching(/^samples\.jsonl:1: /),
  });
  await rm(join(dir, 'samples.jsonl'));
  const wrong = CONTEST.replace(/tasks:[\s\S]*limits/, 'tasks: absent.jsonl\nlimits');
  await writeFile(join(dir, 'contest.yml'), wrong);
  await expect(gen(() => said('x'))).rejects.toThrow('The dataset absent.jsonl does not exist.');
  const template =
    '{ id: r, kind: repo, base: { template: none }, hiddenTests: no, statement: x, verify: "true" }';
  await writeFile(
    join(dir, 'contest.yml'),
    CONTEST.replace(/tasks:[\s\S]*limits/, `tasks: [${template}]\nlimits`),
  );
  await expect(gen(() => said('x'))).rejects.toThrow(
    'The template of the task `r` is not a folder: none.\nThe hidden tests of the task `r` are not a folder: no.',
  );
  await writeFile(join(dir, 'contest.yml'), CONTEST.replace('short: Be brief.', 'short: { file: p.md }'));
  await expect(gen(() => said('x'))).rejects.toThrow('The file of the prompt `short` does not exist: p.md.');
});
