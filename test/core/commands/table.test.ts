import { expect, test } from 'vitest';
import {
  aliasOf,
  COMMAND_NAMES,
  COMMANDS,
  misplaced,
  parseCommand,
} from '../../../src/core/commands/index.ts';

test.each(COMMAND_NAMES)('%s: its example is that command, and its usage is of it', (name) => {
  const { example, usage, does } = COMMANDS[name];
  expect(parseCommand(example)?.name).toBe(name);
  for (const form of usage) expect(form.startsWith(`/auto-dev ${name}`)).toBe(true);
  expect(does).toMatch(/^[a-z].*[^.]$/);
});

test('a command in the wrong place is answered with the right one', () => {
  expect(misplaced('fix', false)).toBe(
    '`/auto-dev fix` works only on pull requests. On an issue, `/auto-dev run` starts a run.',
  );
  expect(misplaced('run', true)).toBe(
    '`/auto-dev run` works only on issues. On a pull request, `/auto-dev review` addresses review comments and `/auto-dev fix` fixes failing checks.',
  );
  expect(misplaced('run', false)).toBeNull();
  expect(COMMAND_NAMES.filter((name) => misplaced(name, false) !== null)).toEqual(['review', 'fix']);
});

test('only the letters of the English alphabet name a candidate', () => {
  const all = Array.from({ length: 0x3000 }, (_, point) => String.fromCodePoint(point));
  expect(all.filter((text) => aliasOf(text) !== null)).toHaveLength(52);
  expect(['', 'AB', ' A', 'A\n'].map(aliasOf)).toEqual([null, null, null, null]);
});
