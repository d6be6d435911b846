import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openContests } from '../../src/adapters/arena/index.ts';
import { readRecords, VOTES_FILE, VoteRecord } from '../../src/core/arena/index.ts';
import type { MinePorts, ShellTerminal } from '../../src/runs/index.ts';
import type { Shell } from '../../src/shell.ts';
import type { Field } from '../core/arena/contest-records.ts';
import { type Parts, partial } from '../world/partial.ts';
import { contestFile, fieldFrom, writeContest } from './contest-folder.ts';
import { shellOver } from './shell.ts';

const TASKS = ['q1', 'q2', 'q3']
  .map((id) => `  - { id: ${id}, kind: text, prompt: "What is ${id}?" }`)
  .join('\n');
const BRIEF = 'brief/openai/scripted';
const CAREFUL = 'careful/openai/scripted';

let dir: string;
let folder: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'arena-vote-'));
  folder = join(dir, 'spring');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A person who looks at a screen of 20 rows and presses keys. */
function person() {
  let press: ((bytes: Uint8Array) => void) | null = null;
  let drawn = '';
  const opened = Promise.withResolvers<void>();
  const terminal: ShellTerminal = {
    term: 'xterm',
    rows: 20,
    columns: 60,
    input(write) {
      press = (bytes) => write(Buffer.from(bytes));
      opened.resolve();
      return () => {
        press = null;
      };
    },
    onOutput: (bytes) => {
      drawn += Buffer.from(bytes).toString();
    },
  };
  return {
    typing: () => terminal,
    /** Everything that was drawn. */
    drawn: () => drawn,
    /** What the screen shows now. */
    screen: () => drawn.slice(drawn.lastIndexOf('\u001b[H')),
    /** Without waiting for what it changes. */
    press: (key: string) => press?.(new TextEncoder().encode(key)),
    async keys(...keys: readonly string[]) {
      await opened.promise;
      for (const key of keys) {
        const before = drawn.length;
        press?.(new TextEncoder().encode(key));
        await vi.waitFor(() => expect(drawn.length).toBeGreaterThan(before), { interval: 2 });
      }
    },
  };
}

const at = (over: Parts<Shell> = {}) => {
  const contests = openContests({ dir, dataDir: join(dir, 'data'), lock: async () => async () => {} });
  return shellOver(
    {},
    {
      openContests: async () => ({ contests, variants: new Map<string, string>() }),
      openMining: async () => ({
        tools: partial<MinePorts>({ clock: { elapsed: () => 0 } }),
        contests,
        variants: new Map<string, string>(),
      }),
      onInterrupt: () => () => {},
      userName: () => 'sam',
      typing: null,
      readText: (path: string) => readFile(path, 'utf8'),
      writeText: (path: string, text: string) => writeFile(path, text),
      ...over,
    },
  );
};
const votes = async () =>
  readRecords(await readFile(join(folder, VOTES_FILE), 'utf8'), VOTES_FILE, VoteRecord).records;
const verdicts = async () => (await votes()).map((one) => (one.kind === 'vote' ? one.verdict : 'undo'));

function answered(answerOf: (contestant: string, task: string) => string, more = ''): Field {
  const field = fieldFrom(contestFile(TASKS, more));
  for (const { id: task } of field.contest.tasks)
    for (const { id } of field.contest.contestants) field.answer(id, task, answerOf(id, task));
  return field;
}
const write = (field: Field, more = '') => writeContest(folder, contestFile(TASKS, more), field);

describe('a person at a terminal', () => {
  test('votes with single keys, takes a vote back, leaves, and goes on later', async () => {
    await write(answered((contestant, task) => `${contestant.slice(0, 5)} on ${task}`));
    const kim = person();
    const first = at({ typing: kim.typing });
    const ended = first.type('arena', 'vote', 'spring', '--as', 'kim');
    await kim.keys('a', 'u', 't', 's', 'q');
    expect(await ended).toBe(0);
    expect(await verdicts()).toEqual(['left', 'undo', 'tie', 'skip']);
    expect(first.err()).toContain('Go on with: runoff arena vote spring');
    const again = person();
    const second = at({ typing: again.typing });
    const end = second.type('arena', 'vote', 'spring', '--as', 'kim');
    await again.keys('b');
    expect(await end).toBe(0);
    expect(second.err()).toContain('1 vote stored; 3 in all, 0 pairs left.');
    const cast = (await votes()).filter((one) => one.kind === 'vote');
    expect(new Set(cast.slice(1).map(({ task }) => task)).size).toBe(3);
    expect(
      cast.every(({ by, resultsShown }) => by.kind === 'person' && by.name === 'kim' && !resultsShown),
    ).toBe(true);
  });

  test('never sees who answered, and nothing in an answer reaches the terminal as a command', async () => {
    const hostile = '\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b1mred \u202egnp.exe\u0000 \u001b[31m';
    await write(answered((contestant, task) => `${hostile} ${contestant.length} ${task}`));
    const kim = person();
    const ended = at({ typing: kim.typing }).type('arena', 'vote', 'spring');
    await kim.keys('2', 'q');
    await ended;
    expect(kim.drawn().replaceAll('\r\n', '')).toContain('<U+202E>gnp.exe<U+0000>');
    expect(kim.drawn()).not.toMatch(/brief|careful|openai|scripted/);
    const own = kim
      .drawn()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of the screen itself
      .replaceAll(/\u001b\[(?:\?1049[hl]|\?25[hl]|H|J|0m|1m|2m)/g, '');
    expect(own).not.toMatch(/(?![\r\n])[\p{Cc}\p{Cf}]/u);
  });

  test('scrolls through long answers; wide and long lines fit the screen', async () => {
    const long = (name: string) =>
      Array.from({ length: 40 }, (_, i) => `${name} ${i} ${'漢'.repeat(40)}`).join('\n');
    await write(answered((contestant, task) => long(`${contestant.slice(0, 1)}${task}`)));
    const kim = person();
    const ended = at({ typing: kim.typing }).type('arena', 'vote', 'spring');
    await kim.keys('2');
    expect(kim.screen()).toContain('Answer B');
    await kim.keys('G');
    expect(kim.screen()).toMatch(/ 39 /);
    expect(kim.screen()).toContain('── end ');
    expect(kim.screen().split('\r\n')).toHaveLength(20);
    await kim.keys('g', '\u001b[6~', '\u001b[A');
    expect(kim.screen()).toMatch(/\d+ more lines/);
    await kim.keys('\u0003');
    expect(await ended).toBe(0);
    expect(await verdicts()).toEqual([]);
  });

  test('does not vote by pasted text or by keys pressed while a vote is stored', async () => {
    await write(answered((contestant, task) => `${contestant} on ${task}`));
    const kim = person();
    const ended = at({ typing: kim.typing }).type('arena', 'vote', 'spring');
    await kim.keys('abbb');
    kim.press('t');
    kim.press('b');
    kim.press('q');
    await ended;
    expect(await verdicts()).toEqual(['left', 'tie']);
  });

  test('is told clearly if a vote cannot be stored, and the terminal is as before', async () => {
    await write(answered((contestant, task) => `${contestant} on ${task}`));
    const kim = person();
    const contests = openContests({ dir, dataDir: join(dir, 'data'), lock: async () => async () => {} });
    const shell = at({
      typing: kim.typing,
      openContests: async () => ({
        variants: new Map<string, string>(),
        contests: {
          ...contests,
          open: async (path, how) => ({
            ...(await contests.open(path, how)),
            append: () => Promise.reject(new Error('no space left')),
          }),
        },
      }),
    });
    const ended = shell.type('arena', 'vote', 'spring');
    await kim.keys('a');
    expect(await ended).toBe(1);
    expect(shell.err()).toContain('no space left');
    expect(kim.drawn().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
  });
});

describe('without a terminal', () => {
  test('voting says what works instead', async () => {
    await write(answered((contestant, task) => `${contestant} on ${task}`));
    const shell = at();
    expect(await shell.type('arena', 'vote', 'spring')).toBe(2);
    expect(shell.err()).toMatch(/needs a terminal.*`--json`.*`--record FILE`.*`--judge MODEL`/s);
  });

  test('another program lists blind pairs and stores votes of people', async () => {
    await write(answered((contestant, task) => `${contestant.slice(0, 5)} on ${task}`));
    const listing = at();
    expect(await listing.type('arena', 'vote', 'spring', '--json', '--pairs', '2')).toBe(0);
    const { open, pairs } = JSON.parse(listing.out());
    expect([open, pairs.length]).toEqual([3, 2]);
    expect(listing.out()).not.toMatch(/openai|scripted/);
    const [first, second] = pairs;
    const lines = [
      { left: first.left.sample, right: first.right.sample, verdict: 'right', by: 'lee' },
      { left: second.right.sample, right: second.left.sample, verdict: 'tie' },
      { left: first.left.sample, right: 's0000000000000000', verdict: 'left' },
      { left: first.left.sample, right: second.right.sample, verdict: 'left' },
      { left: first.left.sample, right: first.right.sample, verdict: 'best' },
    ];
    await writeFile(
      join(dir, 'votes'),
      [...lines.map((one) => JSON.stringify(one)), 'no json', ''].join('\n'),
    );
    const recording = at({ cwd: dir });
    expect(await recording.type('arena', 'vote', 'spring', '--record', 'votes', '--as', 'kim')).toBe(1);
    expect(recording.err()).toContain('2 votes stored.');
    expect(recording.err()).toContain('votes:3: The contest has no sample s0000000000000000.');
    expect(recording.err()).toMatch(/votes:4: .*not two answers of different contestants to one task/);
    expect(recording.err()).toMatch(/votes:5: verdict: /);
    expect(recording.err()).toContain('votes:6: This line is not valid JSON.');
    expect((await votes()).map(({ by }) => (by.kind === 'person' ? by.name : by.model))).toEqual([
      'lee',
      'kim',
    ]);
  });
});

describe('bad input', () => {
  test.each([
    [
      'an empty contest',
      (field: Field) => field.samples.splice(0),
      /no answers to compare yet.*arena gen spring/s,
    ],
    [
      'answers of one contestant',
      (field: Field) =>
        field.samples.splice(
          0,
          field.samples.length,
          ...field.samples.filter(({ contestant }) => contestant === BRIEF),
        ),
      /No task has usable answers of two contestants yet/,
    ],
  ])('%s: a sentence, and exit code 1', async (_, change, sentence) => {
    const field = answered((contestant, task) => `${contestant} on ${task}`);
    change(field);
    await write(field);
    const shell = at({ typing: person().typing });
    expect(await shell.type('arena', 'vote', 'spring')).toBe(1);
    expect(shell.err()).toMatch(sentence);
  });

  test('identical answers are ties without asking', async () => {
    await write(answered((_, task) => `the same on ${task}`));
    const shell = at({ typing: person().typing });
    expect(await shell.type('arena', 'vote', 'spring')).toBe(1);
    expect(shell.err()).toContain('All 3 pairs of answers are identical');
    const report = at();
    await report.type('arena', 'report', 'spring');
    expect(report.out()).toContain('3 pairs of identical answers count as ties without a vote');
  });

  test('a contest that changed after votes is refused; its votes stay, and the report names them', async () => {
    const field = answered((contestant, task) => `${contestant} on ${task}`);
    const [one, two] = field.samples;
    if (one && two) field.vote(one, two, 'left');
    await writeContest(folder, contestFile(TASKS.replace('What is q1?', 'What was q1?')), field);
    const shell = at({ typing: person().typing });
    expect(await shell.type('arena', 'vote', 'spring')).toBe(1);
    expect(shell.err()).toMatch(/changed after 1 vote was cast/);
    const report = at();
    expect(await report.type('arena', 'report', 'spring')).toBe(0);
    expect(report.out()).toContain('1 vote is not counted: cast on another version of the contest.');
    expect(await verdicts()).toEqual(['left']);
  });

  test('a name that does not exist creates nothing', async () => {
    const shell = at({ typing: person().typing });
    expect(await shell.type('arena', 'vote', 'autumn')).toBe(2);
    expect(shell.err()).toContain('There is no contest in');
    expect(await shell.type('arena', 'decide', 'autumn')).toBe(2);
    expect(await readdir(dir)).toEqual([]);
  });

  test('what to do next leads to the same folder', async () => {
    await writeContest(join(dir, 'my evals'), contestFile(TASKS), fieldFrom(contestFile(TASKS)));
    const shell = at({ cwd: dir });
    expect(await shell.type('arena', 'vote', 'spring', '--dir', 'my evals', '--json')).toBe(1);
    expect(shell.err()).toContain("Make them with: runoff arena gen spring --dir 'my evals'");
  });

  test('a damaged line of votes is named with its number, and the file stays as it is', async () => {
    const field = answered((contestant, task) => `${contestant} on ${task}`);
    await write(field);
    await writeFile(join(folder, VOTES_FILE), '{"kind":"vote"}\n');
    const shell = at();
    expect(await shell.type('arena', 'report', 'spring')).toBe(1);
    expect(shell.err()).toMatch(/votes\.jsonl:1: /);
    expect(await readFile(join(folder, VOTES_FILE), 'utf8')).toBe('{"kind":"vote"}\n');
  });

  test.runIf(process.platform === 'linux')('a contest below a folder that takes none', async () => {
    const shell = at();
    expect(await shell.type('arena', 'init', 'spring', '--dir', '/proc/nope', '--models', 'openai/x')).toBe(
      2,
    );
    expect(shell.err()).toContain('Cannot write the contest into the folder /proc/nope: ');
  });

  test('judges without a name', async () => {
    await write(answered((contestant, task) => `${contestant} on ${task}`));
    const shell = at();
    expect(await shell.type('arena', 'vote', 'spring', '--judge')).toBe(2);
    expect(shell.err()).toContain('No judge is named.');
  });

  test.each([
    ['a vote without answers', 1, ['vote', '--json'], false, 'CONTEST_INCOMPLETE'],
    ['a judge without a name', 2, ['vote', '--judge', '--json'], true, 'COMMAND_LINE_INVALID'],
    ['a decision without repository tasks', 1, ['decide', '--json'], true, 'CONTEST_INCOMPLETE'],
  ])('%s is an error document for programs', async (_, code, [command = '', ...flags], hasAnswers, fault) => {
    const field = answered((contestant, task) => `${contestant} on ${task}`);
    if (!hasAnswers) field.samples.splice(0);
    await write(field);
    const shell = at();
    expect(await shell.type('arena', command, 'spring', ...flags)).toBe(code);
    expect(JSON.parse(shell.out())).toMatchObject({ error: { code: fault } });
  });
});

describe('the report', () => {
  test('is written as three files and printed; it changes nothing else', async () => {
    const field = answered((contestant, task) => `${contestant} on ${task}`);
    for (const task of ['q1', 'q2', 'q3']) {
      const [one, two] = field.samples.filter((sample) => sample.task === task);
      if (one && two) field.vote(one, two, one.contestant === CAREFUL ? 'left' : 'right');
    }
    await write(field);
    const shell = at();
    expect(await shell.type('arena', 'report', 'spring')).toBe(0);
    expect(shell.out()).toMatch(/1–2\s+2\s+careful\/openai\/scripted/);
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(html).toContain('<svg');
    expect(await readFile(join(folder, 'report.md'), 'utf8')).toContain('# Contest spring');
    expect(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')).votes.decided).toBe(3);
    const json = at();
    await json.type('arena', 'report', 'spring', '--json', '--out', dir);
    const refused = at();
    expect(await refused.type('arena', 'report', 'spring', '--out', join(dir, 'report.json'))).toBe(2);
    expect(refused.err()).toMatch(
      /Cannot write the report into the folder .*report\.json: .*\n→ Name a file/,
    );
    expect(JSON.parse(json.out())).toEqual(JSON.parse(await readFile(join(dir, 'report.json'), 'utf8')));
  });

  test('replaces a link in place of one of its files, and writes nothing where it leads', async () => {
    await write(answered((contestant, task) => `${contestant} on ${task}`));
    const elsewhere = join(dir, 'profile');
    await writeFile(elsewhere, 'mine\n');
    await symlink(elsewhere, join(folder, 'report.md'));
    expect(await at().type('arena', 'report', 'spring')).toBe(0);
    expect(await readFile(elsewhere, 'utf8')).toBe('mine\n');
    expect(await readFile(join(folder, 'report.md'), 'utf8')).toContain('# Contest spring');
  });
});
