import { describe, expect, test } from 'vitest';
import {
  commitMessage,
  comparison,
  ENDED_UNCHANGED,
  noSurvivorAdvice,
  outcomeComment,
  pullRequest,
  shortContestantNames,
  statusComment,
} from '../../../src/core/reports/index.ts';
import { candidate, coding, judged, nobody, published } from './sample.ts';

const WEAK = 'The system calls of the container are not filtered by Runoff.';
const weak = { sandbox: { backend: 'container', detail: 'podman 4.3', weaker: [WEAK] } };
const none = {
  sandbox: { backend: 'none', detail: 'plain processes', weaker: ['Candidates are not isolated.'] },
};
const strong = { sandbox: { backend: 'bubblewrap', detail: '0.8.0, overlay mounts', weaker: [] } };

const everywhere = (change: object): readonly string[] => [
  statusComment({ ...coding(), ...change }).body,
  comparison({ ...published(), ...change }, {})[0].body,
  pullRequest({ ...published(), ...change }, 'B', {}).body,
];

describe('the sandbox in reports', () => {
  test('is described by what is weaker than the default', () => {
    for (const body of everywhere(weak)) expect(body).toContain(`**Weaker sandbox.** ${WEAK}`);
    for (const body of everywhere(strong)) expect(body).not.toMatch(/weaker sandbox|no sandbox/i);
  });

  test('is never claimed if there was none', () => {
    for (const body of everywhere(none)) {
      expect(body).toContain('**No sandbox.** Candidates are not isolated.');
      expect(body).not.toMatch(/tested in (a )?sandbox/);
    }
    expect(commitMessage({ ...judged(), ...none }, 'B')).toContain('tested without a sandbox');
    expect(commitMessage({ ...judged(), ...strong }, 'B')).toContain('tested in a sandbox');
  });

  test('is named in the evidence with the versions of the agents', () => {
    const candidates = ['A', 'B'].map((alias) => candidate(alias, { coderVersion: `codex 0.16${alias}.0` }));
    const body = comparison({ ...published(), ...strong, candidates }, {})[0].body;
    expect(body).toContain('- Sandbox: `bubblewrap: 0.8.0, overlay mounts`');
    expect(body).toContain('- Coders: A `codex 0.16A.0`, B `codex 0.16B.0`');
  });

  test('is shown with coders that did not end by themselves', () => {
    const note = 'stopped after 60 s, its time limit; its work so far is judged';
    const candidates = [candidate('A', { note }), candidate('B', { note: 'done' })];
    const [{ body }] = comparison({ ...published(), candidates }, {});
    expect(body).toContain(`- Ended early: A, ${note}`);
    expect(body).not.toContain('Ended early: B');
  });
});

describe('a short contestant name', () => {
  const named = (agent: string, model: string, prompt: string, argv?: readonly [string, ...string[]]) => ({
    agent,
    model,
    prompt,
    ...(argv ? { argv } : {}),
  });
  test.each([
    [
      [named('codex', 'o/m', 'plain'), named('pi', 'o/m', 'plain')],
      ['codex', 'pi'],
    ],
    [
      [named('codex', 'o/m', 'plain'), named('pi', 'a/n', 'plain')],
      ['codex m', 'pi n'],
    ],
    [
      [named('b', 'o/m', 'plain'), named('b', 'o/n', 'careful')],
      ['m (plain)', 'n (careful)'],
    ],
    [
      [named('b', 'o/m', 'plain'), named('b', 'o/m', 'careful')],
      ['m (plain)', 'm (careful)'],
    ],
    [[named('b', 'o/m', 'plain')], ['m (plain)']],
    [
      [named('command', 'o/m', 'plain', ['./a']), named('command', 'o/m', 'plain', ['./b'])],
      ['command ./a', 'command ./b'],
    ],
  ])('distinguishes contestants (%#)', (contestants, names) => {
    expect(shortContestantNames(contestants)).toEqual(names);
  });
});

test('a run without patches gives no advice to write a better task', () => {
  const candidates = ['A', 'B'].map((alias) => {
    const { patch: _none, ...rest } = candidate(alias, { state: 'failed', note: 'ended with exit code 127' });
    return rest;
  });
  const view = { ...nobody(), candidates };
  expect(noSurvivorAdvice(view)).toMatch(
    /^find out what stopped each coder.*budget, a limit or an agent's set-up/,
  );
  expect(outcomeComment(view, {})[0].body).toContain(': 2 candidates, without a patch to build and test\n');
  const idle = candidates.map((one) => ({ ...one, note: `${ENDED_UNCHANGED}; its last words: “Done.”` }));
  expect(noSurvivorAdvice({ ...view, candidates: idle })).toBe(
    'nothing stopped the coders: they ended without changing a file. If they are right, there is nothing to do; otherwise describe the issue more precisely (what should change, a test that shows it), then add the label `auto-dev` again or comment `/auto-dev retry`.',
  );
  expect(noSurvivorAdvice({ ...view, candidates: [...candidates.slice(0, 1), ...idle.slice(1)] })).toMatch(
    /^find out what stopped A, fix it/,
  );
  expect(noSurvivorAdvice(nobody())).toMatch(
    /tests that A breaks should change.*pick A.*describe the issue more prec/,
  );
  expect(noSurvivorAdvice(nobody({ ranking: [] }))).toMatch(/^describe the issue more precisely/);
});
