import { expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import { coderNamed } from '../world/stand-ins.ts';
import { shellOver } from './shell.ts';

const unavailable = async () => {
  throw new Fault('SANDBOX_UNAVAILABLE', 'No sandbox.');
};

test.each([
  ['a terminal', 80, /^Starting …\n/],
  ['no terminal', null, /^(?!Starting)/],
])('`run` on %s says at once whether it starts', async (_where, width, words) => {
  const screen = { out: () => {}, outIsTerminal: false, colour: false, outColour: false, live: null, width };
  const said: string[] = [];
  const { type } = shellOver(
    {},
    {
      screen: { ...screen, err: (text) => void said.push(text) },
      newRunId: () => 'r7k2m9q4xa',
      onInterrupt: () => () => {},
      exit: () => {},
      open: unavailable,
    },
  );
  expect(await type('run', 'Fix it')).toBe(1);
  expect(said.join('')).toMatch(words);
});

/** `runoff run` where nothing of a run can be stored. */
async function runRefused(options: readonly string[], empty = false) {
  const route = (model: string) => {
    throw new Fault('MODEL_UNKNOWN', `There is no provider foo for ${model}.`);
  };
  const described = { top: '/x', dirty: false, branch: 'main', empty, unwritable: null };
  const { type, err } = shellOver(
    {
      coders: new Map([['builtin', coderNamed('builtin')]]),
      defaults: { models: [], providers: [] },
      engine: { launch: async () => {} },
      gateway: { route },
      prompts: { coder: new Map([['plain', 'Do it.']]) },
      workspaces: { describe: async () => described, resolve: async () => 'a'.repeat(40) },
    },
    { newRunId: () => 'r7k2m9q4xa', onInterrupt: () => () => {}, exit: () => {} },
  );
  return { code: await type('run', 'Fix it', ...options), err: err() };
}

test.each([
  ['a model', ['--models', 'foo/bar'], 'There is no provider foo for foo/bar'],
  ['a prompt variant', ['--prompts', 'plane'], 'There is no prompt variant "plane"; known: plain.'],
  ['an agent', ['--coders', 'nobody'], 'There is no coder named "nobody"'],
])('`run` refuses %s that is not there before it starts a run', async (_what, options, why) => {
  expect(await runRefused(options)).toEqual({ code: 2, err: expect.stringContaining(why) });
});

test('`run` in a repository without a commit starts no run', async () => {
  const { code, err } = await runRefused([], true);
  expect([code, err]).toEqual([1, expect.stringContaining('/x has no commit yet.\n→ Make a first commit')]);
  expect(err).not.toContain('r7k2m9q4xa');
});

test('`select` names on standard error what it executes, and each ignored key once', async () => {
  const candidate = { id: 'a', patch: '', singals: {}, signals: { aplied: false } };
  const request = { candidates: [candidate], evalautor: ['metrics'], issue: { statment: 'Fix it' } };
  const lines = [
    { ...request, id: 7, repoDir: '/r' },
    { ...request, id: 'text' },
  ];
  const { type, out, err } = shellOver(
    {},
    {
      cores: 1,
      onInterrupt: () => () => {},
      openSelecting: unavailable,
      async *lines() {
        for (const line of lines) yield JSON.stringify(line);
      },
    },
  );
  expect(await type('select', '--jobs', '1')).toBe(1);
  expect(err()).toBe(
    `Request 7: unknown keys are ignored: "evalautor", "issue.statment", "candidates.singals", "candidates.signals.aplied".
Request 7: executing 1 candidate …
1 answered, 1 of them without a pick; 1 failed.
`,
  );
  expect(out().trim().split('\n')).toHaveLength(2);
});
