import { describe, expect, test } from 'vitest';
import { launchEnd } from '../../../src/adapters/sandbox/launch-end.ts';
import { tried } from '../../world/tried.ts';

const END = { reported: null, code: 1, entered: true, begun: true, refused: null } as const;
const EARLY = { ...END, entered: false, begun: false } as const;

describe('the launcher of a sandbox on a machine that is short of a resource', () => {
  test.each(['Cannot allocate memory', 'Resource temporarily unavailable', 'Too many open files in system'])(
    'is started again if it could not execute the command: %s',
    (why) => {
      tried({
        id: 'command-not-started',
        part: 'Child processes are killed',
        what: 'The machine has no memory, process or file for the command of a sandbox.',
        held: 'It is started again a moment later; it is not taken for a program that is missing.',
      });
      expect(launchEnd(END, `bwrap: execvp sh: ${why}\n`)).toMatchObject({
        kind: 'lost',
        how: `could not start the command (bwrap: execvp sh: ${why})`,
      });
    },
  );

  test('is started again if its first shell could create no process', () => {
    expect(launchEnd({ ...EARLY, code: 2 }, '/bin/sh: 0: Cannot fork\n')).toMatchObject({ kind: 'lost' });
  });

  test.each([
    ['No such file or directory', 127],
    ['Permission denied', 126],
    ['Exec format error', 126],
  ])('is told from a program that cannot run: %s', (why, exitCode) => {
    expect(launchEnd(END, `bwrap: execvp go: ${why}\n`)).toEqual({ exitCode });
  });

  test('is told from a host that allows no sandbox', () => {
    expect(() => launchEnd(EARLY, 'unshare: unshare failed: Operation not permitted\n')).toThrow(
      /could not be set up .*Operation not permitted/,
    );
  });
});
