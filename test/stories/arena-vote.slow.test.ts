import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ArenaReport, VoteRecord } from '../../src/core/arena/index.ts';
import type { Scripts, Turn } from '../../src/demo/scripted-models/index.ts';
import { atTerminal, type Terminal } from '../world/terminal.ts';

const text = (said: string): readonly [Turn] => [{ kind: 'text', text: said }];
const diff = (line: string): string =>
  `\`\`\`diff\n--- a/list.js\n+++ b/list.js\n@@ -1,3 +1,3 @@\n export function list(items) {\n-  return items.join(', ');\n+  ${line}\n }\n\`\`\`\n`;

/** Heron solves the task with both prompts, otter with none. Their short greetings are the same. */
const scripts: Scripts = {
  'scripted-heron': {
    turns: text('Hello and welcome to our home page, everybody.'),
    cases: [
      { holds: 'nothing to do', turns: text(diff("return items.join(', ') || 'nothing to do';")) },
      { holds: 'Be brief', turns: text('Hello.') },
    ],
  },
  'scripted-otter': {
    turns: text('Hello there, \u001b[2Jwelcome \u202eback to us.'),
    cases: [
      { holds: 'nothing to do', turns: text(diff("return items.join('; ');")) },
      { holds: 'Be brief', turns: text('Hello.') },
    ],
  },
  'scripted-wren': {
    structured: {
      citations: [
        { candidate: 'first', file: 'answer.txt', line: 1, quote: 'Hello' },
        { candidate: 'second', file: 'answer.txt', line: 1, quote: 'Hello' },
        { candidate: 'first', file: 'list.js', line: 2, quote: "return items.join('" },
      ],
      because: 'Both say what was asked for.',
      better: 'tie',
    },
    turns: text('A tie.'),
  },
};
const CONTEST = `version: 1
name: first
prompts: { short: Be brief., careful: Take your time. }
contestants:
  prompts: [short, careful]
  models: [anthropic/scripted-heron, openai/scripted-otter]
tasks:
  - { id: greeting, kind: text, prompt: Write a greeting. }
  - id: empty-list
    kind: repo
    base: { template: template }
    statement: list([]) must say "nothing to do".
    verify: node test.js
`;
const LIST = "export function list(items) {\n  return items.join(', ');\n}\n";
const CHECK =
  "import { list } from './list.js';\nif (list(['a', 'b']) !== 'a, b' || list([]) !== 'nothing to do') process.exit(1);\n";

/** Votes at a terminal: each key once what stands there asks for it. */
async function voteWith(
  me: Terminal,
  keys: readonly (readonly [until: RegExp, key: string])[],
): Promise<string> {
  const { child, ended } = me.startAtTerminal('arena', 'vote', 'first', '--dir', 'evals', '--as', 'kim');
  let drawn = '';
  child.stdout?.on('data', (data: Buffer) => {
    drawn += data.toString();
  });
  for (const [until, key] of keys) {
    await vi.waitFor(() => expect(drawn.slice(drawn.lastIndexOf('\u001b[H'))).toMatch(until), {
      timeout: 240_000,
      interval: 20,
    });
    child.stdin?.write(key);
  }
  expect((await ended).code).toBe(0);
  return drawn;
}

test('a contest is generated, voted on by a person and a judge, and reported, from the command line', async () => {
  await atTerminal({ scripts }, async (me) => {
    const folder = join(me.repository, 'evals');
    await mkdir(join(folder, 'template'), { recursive: true });
    await writeFile(join(folder, 'contest.yml'), CONTEST);
    await writeFile(join(folder, 'template/package.json'), '{ "type": "module" }\n');
    await writeFile(join(folder, 'template/list.js'), LIST);
    await writeFile(join(folder, 'template/test.js'), CHECK);
    const contest = ['first', '--dir', 'evals'] as const;
    expect(await me.runoff('arena', 'vote', ...contest)).toMatchObject({
      code: 1,
      err: expect.stringContaining('There are no answers to compare yet.'),
    });
    expect(await me.runoff('arena', 'gen', ...contest)).toMatchObject({ code: 0 });

    // Of twelve pairs, that of the short greetings and two of the diffs are the same.
    const drawn = await voteWith(me, [
      [/Pair 1 of 9\./, 'a'],
      [/Pair 2 of 9\./, 'u'],
      [/Pair 1 of 9\. Your last vote does not count/, 'b'],
      [/Pair 2 of 9\. You preferred B\./, 's'],
      [/Pair 3 of 9\. You skipped/, 'q'],
    ]);
    expect(drawn).not.toMatch(/heron|otter|short|careful/);
    await voteWith(me, [
      [/Pair 3 of 9\./, 't'],
      [/Pair 4 of 9\./, 'a'],
      [/Pair 5 of 9\./, '\u0003'],
    ]);
    const votes = async () =>
      (await readFile(join(folder, 'votes.jsonl'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as VoteRecord);
    const verdicts = (await votes()).map((one) => (one.kind === 'vote' ? one.verdict : 'undo'));
    expect(verdicts).toEqual(['left', 'undo', 'right', 'skip', 'tie', 'left']);

    const judge = ['arena', 'vote', ...contest, '--judge', 'openai/scripted-wren', '--pairs', '4'] as const;
    const paid = () => me.asked.filter(({ model }) => model.includes('wren')).length;
    expect(await me.runoff(...judge)).toMatchObject({
      code: 0,
      err: expect.stringContaining('8 new answers on 4 pairs'),
    });
    expect(paid()).toBe(8);
    expect(await me.runoff(...judge)).toMatchObject({
      code: 0,
      err: expect.stringContaining('0 new answers'),
    });
    expect(paid()).toBe(8);

    const reported = await me.runoff('arena', 'report', ...contest, '--json');
    expect(reported.code).toBe(0);
    const report = JSON.parse(reported.out) as ArenaReport;
    expect(report.ratings.truth.groups[0]?.map(({ wins, losses }) => [wins, losses])).toEqual([
      [2, 0],
      [2, 0],
      [0, 2],
      [0, 2],
    ]);
    expect(report.votes).toMatchObject({ decided: 3, skipped: 1, alike: 3, possible: 12, voters: ['kim'] });
    expect(report.judges).toMatchObject([{ model: 'openai/scripted-wren', compared: 4, inconsistent: 0 }]);
    expect(report.front.quality).toBe('pass rate');
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(html).toContain('role="img"');
    for (const never of ['<script', '\u001b', '\u202e']) expect(html).not.toContain(never);
    expect(await readFile(join(folder, 'report.md'), 'utf8')).toContain('short/anthropic/scripted-heron');
  });
});
