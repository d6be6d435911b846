import { expect, test } from 'vitest';
import { Fault, type OpenPull } from '../../src/core/model/index.ts';
import { overlapLine, overlapLines } from '../../src/core/reports/overlaps.ts';
import type { GitHub, GitHubReader } from '../../src/ports/index.ts';
import { readOpenPulls } from '../../src/runs/overlaps.ts';
import { githubOrigin } from '../world/origin.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { clockAt } from '../world/stand-ins.ts';

const RUN = 'r0000000001';
const FILES = ['src/money.js', 'test/money.test.js'];

const pull = (number: number, over: Partial<OpenPull> = {}): OpenPull => ({
  number,
  head: `topic-${number}`,
  headRepositoryId: 42,
  files: ['src/money.js'],
  hasMore: false,
  ...over,
});

/** What a run on issue 7 says about these open pull requests; `never`: GitHub does not end its list. */
async function compared(
  pulls: AsyncIterable<OpenPull> | readonly OpenPull[],
  { work = undefined as 'fix' | undefined, isTimeUp = false } = {},
) {
  const asked: number[] = [];
  const reader = partial<GitHubReader>({
    async *openPulls() {
      for await (const one of pulls) {
        asked.push(one.number);
        yield one;
      }
    },
  });
  const github = partial<GitHub>({ reader: async () => reader });
  const clock = {
    ...clockAt(() => 0),
    // Ends when the time is up, or when nobody waits any more.
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (isTimeUp) setImmediate(resolve);
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const origin = githubOrigin(work === undefined ? {} : { work });
  const compare = await readOpenPulls({ clock, github, log: silent }, { id: RUN, origin });
  return { asked, overlaps: compare(FILES) };
}

test('open pull requests that change the same files are named with these files, and no others', async () => {
  const { overlaps } = await compared([
    pull(12, { files: ['README.md', 'src/money.js', 'test/money.test.js'] }),
    pull(13, { files: ['README.md'] }),
    // The old name of a renamed file, and the new one.
    pull(14, { files: ['src/money.js', 'src/cents.js'] }),
  ]);
  expect(overlaps).toEqual({
    pulls: [
      { number: 12, files: FILES },
      { number: 14, files: ['src/money.js'] },
    ],
  });
  expect(overlapLines(overlaps)).toEqual([
    '#12: `src/money.js`, `test/money.test.js`',
    '#14: `src/money.js`',
  ]);
  expect(overlapLine(overlaps)).toBe('**Open pull requests change files of the plan, too:** #12, #14.');
});

test('its own pull requests are not named, but a fork cannot hide behind the name of a branch', async () => {
  const { overlaps } = await compared([
    pull(20, { head: `auto-dev/7/${RUN}/A` }),
    pull(21, { head: `auto-dev/7/${RUN}/A`, headRepositoryId: 99 }),
    pull(22, { head: 'auto-dev/7/r0000000009/A' }),
  ]);
  expect(overlaps.pulls.map(({ number }) => number)).toEqual([21, 22]);
});

test('the pull request that a run works on is not named', async () => {
  const { overlaps } = await compared([pull(7), pull(8)], { work: 'fix' });
  expect(overlaps.pulls.map(({ number }) => number)).toEqual([8]);
});

test('it reads thirty of them at most, and says so', async () => {
  const { asked, overlaps } = await compared(Array.from({ length: 90 }, (_, at) => pull(100 + at)));
  expect(asked.length).toBeLessThanOrEqual(31);
  expect(overlaps.pulls).toHaveLength(30);
  expect(overlaps.missing).toBe('Only the 30 open pull requests that changed last were compared.');
  const { overlaps: all } = await compared(Array.from({ length: 30 }, (_, at) => pull(100 + at)));
  expect(all.missing).toBeUndefined();
});

test('files that GitHub did not list are admitted', async () => {
  const { overlaps } = await compared([pull(12, { files: ['a'], hasMore: true })]);
  expect(overlaps).toEqual({
    pulls: [],
    missing: 'Of #12, only the first files were compared, because GitHub lists more of them.',
  });
});

test('a GitHub that does not answer delays nobody: what there is so far is shown, and why it is not all', async () => {
  async function* slow() {
    yield pull(12);
    await new Promise(() => {});
    yield pull(13);
  }
  const { overlaps } = await compared(slow(), { isTimeUp: true });
  expect(overlaps.pulls).toEqual([{ number: 12, files: ['src/money.js'] }]);
  expect(overlaps.missing).toMatch(
    /^The open pull requests were not all compared, because GitHub took more than 15 s/,
  );
});

test('a failure is said and stops no run', async () => {
  async function* refused(): AsyncGenerator<OpenPull> {
    yield pull(12);
    throw new Fault('GITHUB_REFUSED', 'GitHub refused to list the files of #13: Resource not accessible.');
  }
  const { overlaps } = await compared(refused());
  expect(overlaps.missing).toBe(
    'The open pull requests were not all compared, because they could not be read: GitHub refused to list the files of #13: Resource not accessible.',
  );
  expect(overlapLine(overlaps)).toMatch(/#12/);
});

test('names of files in a pull request of a stranger stay text', () => {
  const files = ['src/`x`](https://evil.test)@mona.js', 'a', 'b', 'c'];
  const [line = ''] = overlapLines({ pulls: [{ number: 12, files }] });
  expect(line).toMatch(/^#12: <code>[^<>[\]()@`]*\(https&#58;[^<>@`]*<\/code>, `a`, `b` and 1 more$/);
});
