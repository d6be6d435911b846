import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const main = new URL('../../src/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'screen-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runoff = (argv: readonly string[], input: string, stderr: 'pipe' | number = 'pipe') =>
  spawnSync(process.execPath, [main, ...argv], {
    stdio: ['pipe', 'pipe', stderr],
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      RUNOFF_DATA: join(folder, 'data'),
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    },
    input,
    encoding: 'utf8',
  });

const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const HOSTILE = 'a\u202eb\u200bc\u009b2Jd\u001b[2Je';

test('an answer of `select` shows invisible characters of a request, and has the same values', () => {
  const { stdout } = runoff(['select'], `${JSON.stringify({ id: HOSTILE })}\n`);
  expect(stdout).not.toMatch(OBEYED);
  expect(JSON.parse(stdout)).toMatchObject({ id: HOSTILE, line: 1 });
});

test('an argument that an error repeats cannot control the terminal', () => {
  const { stderr, status } = runoff([HOSTILE], '');
  expect(status).toBe(2);
  expect(stderr).toContain('a<U+202E>b<U+200B>c<U+009B>2Jd<U+001B>[2Je');
  expect(stderr).not.toMatch(OBEYED);
});

test('a command whose messages cannot be written, as on a full disk, ends as usual', () => {
  const { status } = runoff(['nonsense'], '', openSync('/dev/full', 'w'));
  expect(status).toBe(2);
});

/** Draws a block twice and prints a line in between, as a command does. */
const DRAWS = `
  import { openScreen } from ${JSON.stringify(new URL('../../src/cli/screen.ts', import.meta.url).href)};
  const { stdout, stderr, env } = process;
  const screen = openScreen({ stdout, stderr, env });
  screen.live.draw(['width ' + screen.width, 'A  first']);
  screen.err('printed meanwhile\\n');
  screen.live.draw(['width ' + screen.width, 'A  second']);
  screen.live.end();
  screen.out('report\\n');
`;

test('on a real terminal the last frame stays, below what was printed meanwhile, and the cursor comes back', () => {
  const words = `stty columns 50 && '${process.execPath}' --input-type=module --eval "$DRAWS"`;
  const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm', DRAWS },
    encoding: 'utf8',
  });
  const shown = displayed(stdout);
  expect(shown).toEqual(['printed meanwhile', 'width 50', 'A  second', 'report']);
  expect(stdout.lastIndexOf('\u001b[?25h')).toBeGreaterThan(stdout.lastIndexOf('\u001b[?25l'));
});

const ESC = '\u001b';
const PARTS = new RegExp(`${ESC}\\[\\??(\\d*)([A-Za-z])|([^${ESC}])`, 'g');

/** The lines that a terminal shows after these bytes: cursor up and down, to a column, and erasing, as ECMA-48 has them. */
function displayed(bytes: string): readonly string[] {
  const rows: string[] = [''];
  let [row, column] = [0, 0];
  const move = (command: string | undefined, count: number): void => {
    if (command === 'A') row -= count;
    if (command === 'B') row += count;
    if (command === 'G') column = count - 1;
    if (command === 'K') rows[row] = count === 2 ? '' : (rows[row] ?? '').slice(0, column);
  };
  for (const [, count, command, text] of bytes.matchAll(PARTS)) {
    if (text === undefined) move(command, Number(count || 1));
    else if (text === '\n') row += 1;
    else if (text === '\r') column = 0;
    else {
      rows[row] = `${(rows[row] ?? '').slice(0, column)}${text}`;
      column += 1;
    }
  }
  return rows.map((line) => (line ?? '').trimEnd()).filter((line) => line !== '');
}
