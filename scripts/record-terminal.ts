// Writes docs/images/demo.svg: the demo as it looks in a terminal, as a picture that plays without a script. `npm run
// recording` takes as long as the demo; with the name of a file it shows that instead, as a terminal received it. Needs
// `script` (util-linux).
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import xterm, { type IBufferCell, type Terminal } from '@xterm/headless';

const ROOT = join(import.meta.dirname, '..');
const FILE = join(ROOT, 'docs', 'images', 'demo.svg');
const COMMAND = 'npm run demo';
const COLUMNS = 120;
const ROWS = 36;
const TITLE = 'The demo of Runoff in a terminal';
/** Size of a character in pixels; GitHub shows pictures up to 860 pixels wide. */
const CELL = { width: 8.4, height: 18 };
const PADDING = 14;
/** Frames at most, and milliseconds of each: nobody wants to watch others wait. */
const FRAMES = { most: 100, ms: 250 };
/** Milliseconds of the typed command before the first output, and of the last frame. */
const FIRST_MS = 1_200;
const LAST_MS = 8_000;

/** GitHub's dark theme. */
const COLOURS = { background: '#0d1117', text: '#e6edf3', dim: '#8b949e' };
const PALETTE = '#484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4'.split(' ');
const BRIGHT = '#6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #ffffff'.split(' ');

/** What the command writes to a terminal of this size. */
function record(): Promise<string> {
  const command = `stty cols ${COLUMNS} rows ${ROWS}; exec node_modules/.bin/node -- src/main.ts demo`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm-256color' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
    process.stderr.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve(written) : reject(new Error(`The demo ended with ${code}.`)),
    );
  });
}

interface Frame {
  readonly lines: readonly string[];
  readonly ms: number;
}

/** Ends a redrawing of the lines of candidates; before the first, every line is a frame. */
const REDRAWN = '\x1b[?2026l';

async function framesOf(written: string): Promise<readonly Frame[]> {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true, scrollback: 0 });
  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
  await write(`\x1b[1m$ ${COMMAND}\x1b[0m\r\n`);
  const screens = [linesOf(terminal)];
  const [before = '', ...redrawn] = written.split(REDRAWN);
  for (const text of [...before.split(/(?<=\n)/), ...redrawn]) {
    await write(text);
    const lines = linesOf(terminal);
    if (lines.join() !== screens.at(-1)?.join()) screens.push(lines);
  }
  const every = Math.ceil(screens.length / FRAMES.most);
  const kept = screens.filter((_, index) => index % every === 0 || index === screens.length - 1);
  return kept.map((lines, index) => ({
    lines,
    ms: index === 0 ? FIRST_MS : index === kept.length - 1 ? LAST_MS : FRAMES.ms,
  }));
}

const linesOf = (terminal: Terminal): readonly string[] =>
  Array.from({ length: ROWS }, (_, row) => {
    const buffer = terminal.buffer.active;
    const line = buffer.getLine(buffer.viewportY + row);
    const cells = Array.from({ length: COLUMNS }, (__, column) => line?.getCell(column));
    return runsOf(cells);
  });

/** The text of a line as SVG: one element for all neighbours of one style. */
function runsOf(cells: readonly (IBufferCell | undefined)[]): string {
  const runs: { style: string; column: number; text: string }[] = [];
  for (const [column, cell] of cells.entries()) {
    if (!cell || cell.getWidth() === 0) continue;
    const style = styleOf(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || ' ';
    if (last?.style === style) last.text += text;
    else runs.push({ style, column, text });
  }
  return runs
    .filter(({ text }) => text.trim() !== '')
    .map(({ style, column, text }) => {
      const x = (column * CELL.width).toFixed(1).replace(/\.0$/, '');
      return `<tspan x="${x}"${style}>${escaped(text.trimEnd())}</tspan>`;
    })
    .join('');
}

function styleOf(cell: IBufferCell): string {
  const colour = cell.isFgPalette() ? paletteColour(cell.getFgColor()) : null;
  const fill = cell.isDim() ? COLOURS.dim : colour;
  return `${fill === null ? '' : ` fill="${fill}"`}${cell.isBold() ? ' font-weight="bold"' : ''}`;
}

const paletteColour = (index: number): string | null => [...PALETTE, ...BRIGHT][index] ?? null;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A strip of all frames that jumps from one to the next. A line that stands in several frames is there once. */
function picture(frames: readonly Frame[]): string {
  const width = Math.ceil(COLUMNS * CELL.width);
  const size = { width: width + 2 * PADDING, height: ROWS * CELL.height + 2 * PADDING };
  const names = new Map<string, string>();
  const uses = frames.map(({ lines }, index) => {
    const shown = lines.map((line, row) => {
      if (line === '') return '';
      const name = names.get(line) ?? `l${names.size}`;
      names.set(line, name);
      return `<use href="#${name}" y="${row * CELL.height}"/>`;
    });
    return `<g transform="translate(${index * size.width})">${shown.join('')}</g>`;
  });
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  let passed = 0;
  const steps = frames.map(({ ms }, index) => {
    const at = ((passed / total) * 100).toFixed(3);
    passed += ms;
    return `${at}%{transform:translateX(-${index * size.width}px)}`;
  });
  const last = (frames.length - 1) * size.width;
  const style = [
    'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:',
    `${COLOURS.text}}@keyframes play{${steps.join('')}100%{transform:translateX(-${last}px)}}`,
    `.film{animation:play ${(total / 1000).toFixed(1)}s step-end infinite}`,
    `@media(prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(-${last}px)}}`,
  ].join('');
  const lines = [...names].map(
    ([line, name]) => `<text id="${name}" y="14" xml:space="preserve">${line}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img" aria-label="${TITLE}">`,
    `<title>${TITLE}</title>`,
    `<style>${style}</style><defs>${lines.join('\n')}</defs>`,
    `<clipPath id="screen"><rect width="${width}" height="${ROWS * CELL.height}"/></clipPath>`,
    `<rect width="100%" height="100%" rx="8" fill="${COLOURS.background}"/>`,
    `<g transform="translate(${PADDING} ${PADDING})" clip-path="url(#screen)"><g class="film">`,
    ...uses,
    '</g></g></svg>\n',
  ].join('\n');
}

const [recorded] = process.argv.slice(2);
const frames = await framesOf(recorded === undefined ? await record() : await readFile(recorded, 'utf8'));
await writeFile(FILE, picture(frames));
process.stderr.write(`wrote ${FILE}: ${frames.length} frames\n`);
