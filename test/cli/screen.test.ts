import { expect, test } from 'vitest';
import { endUnwritten, openScreen } from '../../src/cli/index.ts';
import type { OutputStream } from '../../src/cli/screen.ts';

const ESC = '\u001b';

/** A terminal of this size, or a pipe, with what was written to it. */
function stream(over: Partial<OutputStream> = {}) {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(text.toString()) > 0;
  return {
    stream: { columns: 60, rows: 24, isTTY: true, write, ...over } as OutputStream,
    text: () => written.join(''),
    since: (count: number) => written.slice(count).join(''),
    count: () => written.length,
  };
}

function screenOn(err = stream(), env: Record<string, string> = {}) {
  const out = stream();
  return { screen: openScreen({ stdout: out.stream, stderr: err.stream, env }), out, err };
}

test('a line that did not change is not written again, and each update is one synchronized write', () => {
  const { screen, err } = screenOn();
  screen.live?.draw(['Run r1', 'A  coding  1 s', 'B  coding  1 s']);
  const first = err.count();
  screen.live?.draw(['Run r1', 'A  coding  1 s', 'B  coding  2 s']);
  expect(err.count()).toBe(first + 1);
  const update = err.since(first);
  expect(update).toContain('B  coding  2 s');
  expect(update).not.toContain('A  coding');
  expect(update.startsWith(`${ESC}[?2026h`)).toBe(true);
  expect(update.endsWith(`${ESC}[?2026l`)).toBe(true);
  screen.live?.draw(['Run r1', 'A  coding  1 s', 'B  coding  2 s']);
  expect(err.count()).toBe(first + 1);
});

test('what is printed meanwhile stands above the block, which is drawn again', () => {
  const { screen, err } = screenOn();
  screen.live?.draw(['Run r1', 'A  coding']);
  const before = err.count();
  screen.err('Stopping\n');
  const text = err.since(before);
  expect(text.indexOf('Stopping')).toBeLessThan(text.indexOf('A  coding'));
  screen.live?.end();
  const ended = err.count();
  screen.err('after\n');
  expect(err.since(ended)).toBe('after\n');
});

test('a note of a candidate cannot move the cursor, set the title or hide text', () => {
  const { screen, err, out } = screenOn();
  screen.live?.draw([`A  ${ESC}]0;owned\u0007${ESC}[2J\u202eedits`]);
  screen.out(`${ESC}[2Jreport\n`);
  for (const text of [err.text(), out.text()]) {
    expect(text).not.toContain(`${ESC}]0;`);
    expect(text).not.toContain(`${ESC}[2J`);
    expect(text).not.toContain('\u202e');
  }
  expect(err.text()).toContain('<U+001B>]0;owned');
});

test('lines beyond the height of the terminal are not drawn: it would scroll', () => {
  const { screen, err } = screenOn(stream({ rows: 4 }));
  screen.live?.draw(Array.from({ length: 12 }, (_, index) => `line ${index}`));
  expect(err.text().split('\n').length).toBeLessThanOrEqual(4);
});

test('the width follows the terminal, and is 80 if the terminal does not know it', () => {
  const terminal = stream();
  const { screen } = screenOn(terminal);
  expect(screen.width).toBe(60);
  Object.assign(terminal.stream, { columns: 100 });
  expect(screen.width).toBe(100);
  expect(screenOn(stream({ columns: 0 })).screen.width).toBe(80);
});

test('pipes and terminals without a cursor get plain lines; NO_COLOR and pipes no colours', () => {
  const plain = { width: null, live: null, colour: false };
  expect(screenOn(stream({ isTTY: false })).screen).toMatchObject(plain);
  expect(screenOn(stream(), { TERM: 'dumb' }).screen).toMatchObject({ ...plain, outColour: false });
  expect(screenOn(stream(), { NO_COLOR: '1' }).screen).toMatchObject({
    width: 60,
    colour: false,
    outColour: false,
  });
  expect(screenOn().screen).toMatchObject({ colour: true, outColour: true });
});

test('a report in a file has no colours although progress is shown in a terminal', () => {
  const file = stream({ isTTY: false });
  const screen = openScreen({ stdout: file.stream, stderr: stream().stream, env: {} });
  expect(screen).toMatchObject({ colour: true, outColour: false, outIsTerminal: false });
  screen.out(`${ESC}[2J a patch\n`);
  expect(file.text()).toBe(`${ESC}[2J a patch\n`);
});

test.each([
  ['a reader that stops reading is no failure', 'EPIPE', 0, ''],
  [
    'a full disk is told in a sentence',
    'ENOSPC',
    1,
    '\nStandard output cannot be written: ENOSPC: write.\n→ Free disk space, or send it elsewhere, then run the same command again.\n',
  ],
])('output that cannot be written ends the process: %s', (_, code, status, words) => {
  const { screen, err } = screenOn();
  const exits: number[] = [];
  const error = Object.assign(new Error(`${code}: write`), { code });
  endUnwritten({ screen, exit: (given) => exits.push(given) }, error);
  expect([exits, err.text()]).toEqual([[status], words]);
});
