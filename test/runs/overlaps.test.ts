import { expect, test } from 'vitest';
import { Fault, type OpenPull, type PullFiles } from '../../src/core/model/index.ts';
import { overlapGap, overlapLine, overlapLines } from '../../src/core/reports/overlaps.ts';
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

type FilesOf = (pull: OpenPull) => Promise<PullFiles>;

/** What a run on issue 7 says about these open pull requests. */
async function compared(
  pulls: readonly OpenPull[],
  {
    work = undefined as 'fix' | undefined,
    isTimeUp = false,
    filesOf = (async ({ files, hasMore }) => ({ files, hasMore })) as FilesOf,
    signal = new AbortController().signal,
  } = {},
) {
  const asked: number[] = [];
  const reader = partial<GitHubReader>({
    openPulls: async () =>
      pulls.map(({ number, head, headRepositoryId }) => ({ number, head, headRepositoryId })),
    pullFiles: async (number) => {
      asked.push(number);
      return filesOf(pulls.find((one) => one.number === number) ?? expect.fail(`#${number} was not listed.`));
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
  const compare = await readOpenPulls({ clock, github, log: silent }, { id: RUN, origin }, signal);
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
  const { asked, overlaps } = await compared([
    pull(20, { head: `auto-dev/7/${RUN}/A` }),
    pull(21, { head: `auto-dev/7/${RUN}/A`, headRepositoryId: 99 }),
    pull(22, { head: 'auto-dev/7/r0000000009/A' }),
  ]);
  expect(overlaps.pulls.map(({ number }) => number)).toEqual([21, 22]);
  // Nor does it cost a request.
  expect(asked).toEqual([21, 22]);
});

test('the pull request that a run works on is not named', async () => {
  const { overlaps } = await compared([pull(7), pull(8)], { work: 'fix' });
  expect(overlaps.pulls.map(({ number }) => number)).toEqual([8]);
});

test('it reads thirty of them at most, and says so', async () => {
  const { asked, overlaps } = await compared(Array.from({ length: 90 }, (_, at) => pull(100 + at)));
  expect(asked).toHaveLength(30);
  expect(overlaps.pulls).toHaveLength(30);
  expect(overlaps.missing).toBe('Only the 30 open pull requests that changed last were compared.');
  const { overlaps: all } = await compared(Array.from({ length: 30 }, (_, at) => pull(100 + at)));
  expect(all.missing).toBeUndefined();
});

test('files that GitHub did not list are admitted', async () => {
  const { overlaps } = await compared([pull(12, { files: ['a'], hasMore: true })]);
  expect(overlaps).toEqual({
    pulls: [],
    missing: 'Only the first files of the open pull request #12 were compared, because there are more.',
  });
  // There is nothing that a heading could stand above.
  expect(overlapLines(overlaps)).toEqual([]);
  expect(overlapGap(overlaps)).toMatch(/^Only the first files .* because there are more\.$/);
  const both = await compared([pull(12, { hasMore: true }), pull(13, { hasMore: true })]);
  expect(both.overlaps.missing).toMatch(/of the open pull requests #12, #13 were compared/);
  expect(overlapLines(both.overlaps)).toHaveLength(3);
  expect(overlapGap(both.overlaps)).toBe('');
});

test('a GitHub that does not answer delays nobody: what there is so far is shown, and why it is not all', async () => {
  const { overlaps } = await compared([pull(12), pull(13)], {
    isTimeUp: true,
    filesOf: (one) => (one.number === 12 ? Promise.resolve(one) : new Promise(() => {})),
  });
  expect(overlaps.pulls).toEqual([{ number: 12, files: ['src/money.js'] }]);
  expect(overlaps.missing).toMatch(/^Not all open pull requests were compared: GitHub took longer than 15 s/);
});

test('none is read any more once nobody needs to know', async () => {
  const needed = new AbortController();
  const { asked } = await compared([pull(12), pull(13), pull(14)], {
    signal: needed.signal,
    async filesOf(one) {
      needed.abort();
      return one;
    },
  });
  expect(asked).toEqual([12]);
});

test('a failure is said and stops no run', async () => {
  const { overlaps } = await compared([pull(12), pull(13)], {
    filesOf: async (one) => {
      if (one.number === 12) return one;
      throw new Fault('GITHUB_REFUSED', 'GitHub refused to list the files of #13: Resource not accessible.');
    },
  });
  expect(overlaps.missing).toBe(
    'Not all open pull requests were compared, because GitHub did not list all of their files.',
  );
  expect(overlapLine(overlaps)).toMatch(/#12/);
});

test('names of files in a pull request of a stranger stay text', () => {
  const files = ['src/`x`](https://evil.test)@mona.js', 'a', 'b', 'c'];
  const [line = ''] = overlapLines({ pulls: [{ number: 12, files }] });
  expect(line).toMatch(/^#12: <code>[^<>[\]()@`]*\(https&#58;[^<>@`]*<\/code>, `a`, `b` and 1 more$/);
});
