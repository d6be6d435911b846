import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const BIN = join(import.meta.dirname, '..', '..', 'bin');
/** What Node strips types with, as it names it. */
const STRIPPER = 'internal/deps/amaro';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runoff-strip-types-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Timers end a hundred times as soon. */
const FASTER = `data:text/javascript,const wait = setTimeout; globalThis.setTimeout = (work, ms) => wait(work, ms / 100);`;

/** Runs `src/main.ts` of these sources as the App is started. */
function start(root: string, sources: Readonly<Record<string, string>>) {
  for (const name of ['strip-types.mjs', 'stripped-sources.mjs'])
    cpSync(join(BIN, name), join(root, 'bin', name));
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(root, 'src', path)), { recursive: true });
    writeFileSync(join(root, 'src', path), text);
  }
  const argv = [
    `--import=${FASTER}`,
    `--import=${join(root, 'bin', 'strip-types.mjs')}`,
    '--',
    join(root, 'src', 'main.ts'),
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: home, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const LOADED = `process.moduleLoadList.some((name: string) => name.includes('${STRIPPER}'))`;

describe.each([
  ['in a checkout', 'runoff'],
  ['below node_modules', 'node_modules/runoff'],
])('types are stripped in another process: %s', (_, folder) => {
  test('sources run, and what strips types is not loaded', () => {
    const { status, stdout, stderr } = start(join(home, folder), {
      'main.ts': `import { greeting, type Name } from './deep/greeting.ts';\nconst name: Name = 'Zoë ✓';\nconsole.log(greeting(name), ${LOADED});\n`,
      'deep/greeting.ts': `export type Name = string;\nexport const greeting = (name: Name): string => ['Hello', name].join(', ');\n`,
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'Hello, Zoë ✓ false\n', stderr: '' });
  });
});

test('errors name the line and column of the source', () => {
  const { stderr } = start(home, {
    'main.ts': "interface Nothing {\n  readonly n: number;\n}\n\n  throw new Error('here' as string);\n",
  });
  expect(stderr).toContain('src/main.ts:5:9');
});

test('a source that cannot be stripped does not keep others from running, and whoever loads it sees why', () => {
  const { status, stdout, stderr } = start(home, {
    'main.ts': "console.log('runs' as string);\nawait import('./wrong.ts');\n",
    'wrong.ts': 'enum Colour { Red }\n',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: 'runs\n' });
  expect(stderr).toContain('enum');
});

test('sources that are loaded later run as they were at the start, new ones as they are', () => {
  const main = `import { writeFileSync } from 'node:fs';
    const path = (name: string): URL => new URL(name, import.meta.url);
    writeFileSync(path('late.ts'), 'export const text: string = "changed";');
    writeFileSync(path('added.ts'), 'export const text: string = "added";');
    setTimeout(async () => {
      console.log((await import(path('late.ts').href)).text, (await import(path('added.ts').href)).text);
    }, 5_500);\n`;
  const { stdout } = start(home, { 'main.ts': main, 'late.ts': 'export const text: string = "as before";' });
  expect(stdout).toBe('as before added\n');
});
