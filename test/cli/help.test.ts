import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SIGNALS } from '../../src/core/ranking/index.ts';
import { EVALUATORS } from '../../src/core/settings/index.ts';
import { shellOver } from './shell.ts';

async function printed(...argv: readonly string[]): Promise<string> {
  const { type, out } = shellOver({});
  expect(await type(...argv)).toBe(0);
  return out();
}

const GROUPS = ['Run:', 'Look:', 'Decide:', 'Arena:', 'Operate:'];

test('the commands stand in groups, in the order in which people need them', async () => {
  const lines = (await printed('--help')).split('\n');
  const places = GROUPS.map((group) => lines.indexOf(group));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(lines.at(-2)).toMatch(
    /^Exit codes: 0 done · 1 failed · 2 bad usage, or an unknown name · 3 no candidate put first or picked \(.*\) · 130/,
  );
});

/** The commands that a help lists, `help` itself left out. */
const commandsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}([a-z][a-z-]+)(?:\|[a-z-]+)?(?: [[<].*)? {2,}\S/gm)].flatMap(([, name = '']) =>
    name === 'help' ? [] : [name],
  );

/** The help of each command, with those of its own commands, such as `arena vote`. */
async function allHelps(): Promise<ReadonlyMap<string, string>> {
  const helps = new Map<string, string>();
  for (const name of commandsIn(await printed('--help'))) {
    const help = await printed(name, '--help');
    helps.set(name, help);
    for (const inner of /^Commands:$/m.test(help) ? commandsIn(help.split(/^Commands:$/m)[1] ?? '') : [])
      helps.set(`${name} ${inner}`, await printed(name, inner, '--help'));
  }
  return helps;
}

test('the examples in the help of a command begin with it and use only options that it has', async () => {
  const helps = await allHelps();
  const withExamples: string[] = [];
  for (const [command, help] of helps) {
    const [described = '', examples] = help.split('\nExamples:\n');
    if (examples === undefined) continue;
    withExamples.push(command);
    const lines = examples.split('\n').filter((line) => line.startsWith('  '));
    expect(lines, command).not.toEqual([]);
    for (const line of lines) {
      expect(line.trim().startsWith(`runoff ${command}`), `${command}: ${line}`).toBe(true);
      const outsideOfQuotes = line.replace(/"[^"]*"/g, '""');
      for (const [option] of outsideOfQuotes.matchAll(/(?<= )--?[a-z][a-z-]*/g))
        expect(described, `${command}: ${line}`).toContain(option);
    }
  }
  expect(withExamples.length).toBeGreaterThan(helps.size / 2);
  expect(withExamples).toEqual(expect.arrayContaining(['run', 'arena vote']));
});

test('help has one list of examples, marks what must be given, and names what an option takes', async () => {
  for (const [command, help] of await allHelps())
    expect(help.split('\nExamples:\n').length, command).toBeLessThanOrEqual(2);
  expect((await printed('token', 'create', '--help')).match(/\(required\)/g)).toHaveLength(3);
  const words = async (...argv: readonly string[]) => (await printed(...argv, '--help')).replace(/\s+/g, ' ');
  const run = await words('run');
  expect(run).toContain(EVALUATORS.join(', '));
  for (const file of await readdir('src/runs/code/prompts')) expect(run).toContain(parse(file).name);
  const debate = await words('debate');
  for (const file of await readdir('src/runs/personas')) expect(debate).toContain(parse(file).name);
  expect(await words('select')).toContain(SIGNALS.join(', '));
});

/** What bash offers after these words; the last one is being typed. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const line = ['runoff', ...words];
  const script = `${await printed('completion', 'bash')}
COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_runoff; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

describe('completion in bash', () => {
  test('offers commands, and options of the command that was typed', async () => {
    expect(await offered('re')).toEqual(['resume', 'revise']);
    expect(await offered('run', '--bu')).toEqual(['--budget', '--build']);
    expect(await offered('compete', '--bu')).toEqual(['--budget', '--build']);
    expect(await offered('run', 'a task', '--no')).toEqual(['--no-ask']);
  });

  test('offers the commands of a command', async () => {
    expect(await offered('agents', '')).toEqual(expect.arrayContaining(['list', 'install']));
    expect(await offered('agents', 'install', '--')).toEqual(['--json', '--help']);
    expect(await offered('arena', 'v')).toContain('vote');
  });

  test('offers nothing for what it does not know, and no option that help hides', async () => {
    expect(await offered('xyz')).toEqual(['']);
    expect(await offered('run', '--prompt-f')).toEqual(['']);
  });
});

test.each(['zsh', 'fish'])(
  'completion in %s names every command of the help, and the shell can read it',
  async (name) => {
    const script = await printed('completion', name);
    const help = await printed('--help');
    const commands = commandsIn(help);
    expect(commands).toContain('move-database');
    const missing = commands.filter(
      (command) => !new RegExp(name === 'zsh' ? `'${command}:` : `-a '?${command}\\b`).test(script),
    );
    expect(missing).toEqual([]);
    const read = spawnSync(name, ['-n'], { input: script, encoding: 'utf8' });
    // Not every machine has the shell.
    if (!read.error) expect(read.stderr).toBe('');
  },
);

test('an unknown shell is a usage error that names the known ones', async () => {
  const { type, err } = shellOver({});
  expect(await type('completion', 'tcsh')).toBe(2);
  expect(err()).toContain('bash, zsh, fish');
});
