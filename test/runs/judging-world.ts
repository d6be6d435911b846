import type { Author, Competitor, Judgement, JudgingPool, Verdict } from '../../src/core/judging/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import type { Answer, Grant, Lease, ModelQuestion } from '../../src/ports/index.ts';
import { type JudgeOptions, judgePool } from '../../src/runs/judge/panel.ts';

/** A question as a judge reads it. */
export interface Seen {
  readonly model: string;
  readonly prompt: string;
  readonly instructions: string;
  readonly nonce: string;
  readonly task: string;
  readonly first: string;
  readonly second: string;
}

/** What a model answers: any value, which the schema then accepts or not; `DOWN`: nothing. */
export type JudgeAnswer = (seen: Seen) => unknown;
export const DOWN: JudgeAnswer = () => {
  throw new Error('HTTP 529');
};

/** The first changed line of a side, as a citation. */
export function cite(seen: Seen, side: 'first' | 'second'): Verdict['citations'][number] {
  const file = /^file (\S+)/m.exec(seen[side])?.[1] ?? 'none';
  const line = /^[+-] (\d+): (?!\[|\S{0,3}$)(.+)$/m.exec(seen[side]);
  return { candidate: side, file, line: Number(line?.[1] ?? 1), quote: (line?.[2] ?? 'none').trim() };
}

export const saying = (
  seen: Seen,
  better: Verdict['better'],
  because = 'It handles the empty input.',
): Verdict => ({
  citations: [cite(seen, better === 'second' ? 'second' : 'first')],
  because,
  better,
});

/** Looks at the code: the side that has this, or a tie. */
export const prefers =
  (wanted: RegExp): JudgeAnswer =>
  (seen) => {
    const [first, second] = [wanted.test(seen.first), wanted.test(seen.second)];
    return saying(seen, first === second ? 'tie' : first ? 'first' : 'second');
  };

export const always =
  (better: Verdict['better']): JudgeAnswer =>
  (seen) =>
    saying(seen, better);

export interface Judging {
  readonly parts: JudgeOptions;
  readonly grants: Grant[];
  readonly seen: Seen[];
  /** Leases that are open. */
  open: number;
  judge(pool: JudgingPool): Promise<Judgement>;
}

const USD_A_CALL = 0.01;

/** Scripted models behind narrow stand-ins of the ports; `parts` replaces some of them. */
export function openJudging(
  rulings: Readonly<Record<string, JudgeAnswer>>,
  parts: Partial<JudgeOptions> = {},
): Judging {
  const grants: Grant[] = [];
  const seen: Seen[] = [];
  let nonces = 0;
  const all: JudgeOptions = {
    models: Object.keys(rulings),
    instructions: 'You compare two candidate patches. '.repeat(5),
    payer: { runId: 'r0000000000', repository: 'local-/repo', runCapUsd: 5 },
    signal: new AbortController().signal,
    remember: (_key, work) => work(),
    random: { nonce: () => `${(++nonces).toString(16).padStart(4, '0')}${'e'.repeat(28)}` },
    clock: { sleep: (_ms, signal) => new Promise((done) => signal?.addEventListener('abort', () => done())) },
    gateway: {
      route(model) {
        if (!(model in rulings)) throw new Fault('MODEL_KEY_MISSING', `There is no key for ${model}.`);
        return { protocol: 'openai-chat', model };
      },
      async open(grant) {
        grants.push(grant);
        judging.open += 1;
        return leaseOf(grant, seen, judging);
      },
    },
    model: {
      async ask<T>(question: ModelQuestion<T>): Promise<Answer<T>> {
        const one = seenIn(question);
        seen.push(one);
        return answerOf(question, rulings[one.model] as JudgeAnswer, one);
      },
    },
    ...parts,
  };
  const judging: Judging = { parts: all, grants, seen, open: 0, judge: (pool) => judgePool(all, pool) };
  return judging;
}

function leaseOf(grant: Grant, seen: readonly Seen[], judging: Judging): Lease {
  const calls = () => seen.filter(({ model }) => grant.models.includes(model)).length;
  return {
    socket: '/nowhere',
    key: 'gw-none',
    usage: () => ({ usd: calls() * USD_A_CALL, tokensIn: calls(), tokensOut: calls(), calls: calls() }),
    refusal: () => null,
    capReached: () => null,
    lastActivity: () => null,
    async close() {
      judging.open -= 1;
    },
  };
}

function answerOf<T>({ schema }: ModelQuestion<T>, ruling: JudgeAnswer, seen: Seen): Answer<T> {
  try {
    const parsed = schema.safeParse(ruling(seen));
    return parsed.success
      ? { kind: 'answer', value: parsed.data }
      : { kind: 'failed', why: 'The answer was not in the form asked for.' };
  } catch (thrown) {
    return { kind: 'failed', why: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Reads a question by its marked lines, as a model that keeps to them would. */
function seenIn({ prompt, instructions, route }: ModelQuestion<unknown>): Seen {
  const nonce = /^<<<TASK (\S+)$/m.exec(prompt)?.[1] ?? '';
  const block = (name: string) =>
    prompt.split(`<<<${name} ${nonce}\n`)[1]?.split(`\n${name} ${nonce}>>>`)[0] ?? '';
  return {
    model: route.model,
    prompt,
    instructions,
    nonce,
    task: block('TASK'),
    first: block('FIRST'),
    second: block('SECOND'),
  };
}

export const poolOf = (...competitors: readonly Competitor[]): JudgingPool => ({
  task: 'Return 0 for an empty input.',
  competitors,
  authors: competitors.flatMap(({ author }): Author[] => (author ? [author] : [])),
});
