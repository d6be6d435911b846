import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
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
  expect(lines.at(-2)).toMatch(/^Exit codes: 0 done · 1 failed · 2 bad usage · 3 nothing survived · 130/);
});

describe('the examples in the help', () => {
  test.each(
    ['run', 'resume', 'show', 'explain', 'pick', 'status', 'runs', 'ui', 'audit', 'prepare', 'debate'].concat(
      ['demo', 'cancel', 'answer', 'approve', 'revise', 'select', 'doctor', 'prune', 'workers', 'completion'],
    ),
  )('of `%s` begin with the command and use only options that it has', async (command) => {
    const [described = '', examples = ''] = (await printed(command, '--help')).split('\nExamples:\n');
    const lines = examples.trim().split('\n');
    for (const line of lines) {
      expect(line.trim().startsWith(`runoff ${command}`)).toBe(true);
      const outsideOfQuotes = line.replace(/"[^"]*"/g, '""');
      for (const [option] of outsideOfQuotes.matchAll(/(?<= )--?[a-z][a-z-]*/g))
        expect(described).toContain(option);
    }
  });
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
    const commands = [...help.matchAll(/^ {2}([a-z][a-z-]+)(?:\|[a-z-]+)?(?: [[<].*)? {2,}\S/gm)].map(
      ([, name]) => name,
    );
    expect(commands).toContain('move-database');
    const missing = commands.filter(
      (command = '') =>
        command !== 'help' &&
        !new RegExp(name === 'zsh' ? `'${command}:` : `-a '?${command}\\b`).test(script),
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
