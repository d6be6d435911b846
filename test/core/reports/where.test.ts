import { describe, expect, test } from 'vitest';
import { commitMessage, comparison, pullRequest, statusComment } from '../../../src/core/reports/index.ts';
import { candidate, coding, judged, published } from './sample.ts';

const WEAK = 'The system calls of the container are not filtered by Runoff.';
const weak = { sandbox: { backend: 'container', detail: 'podman 4.3', weaker: [WEAK] } };
const none = {
  sandbox: { backend: 'none', detail: 'plain processes', weaker: ['Nothing holds a candidate back.'] },
};
const strong = { sandbox: { backend: 'bubblewrap', detail: '0.8.0, overlay mounts', weaker: [] } };

const everywhere = (change: object): readonly string[] => [
  statusComment({ ...coding(), ...change }).body,
  comparison({ ...published(), ...change }, {}).body,
  pullRequest({ ...published(), ...change }, 'B', {}).body,
];

describe('where candidates were executed', () => {
  test('every report says what is weaker than the default sandbox', () => {
    for (const body of everywhere(weak)) expect(body).toContain(`**Weaker sandbox.** ${WEAK}`);
    for (const body of everywhere(strong)) expect(body).not.toMatch(/weaker sandbox|no sandbox/i);
  });

  test('without a sandbox nothing claims that there was one', () => {
    for (const body of everywhere(none)) {
      expect(body).toContain('**No sandbox.** Nothing holds a candidate back.');
      expect(body).not.toMatch(/tested in (a )?sandbox/);
    }
    expect(commitMessage({ ...judged(), ...none }, 'B')).toContain('tested without a sandbox');
    expect(commitMessage({ ...judged(), ...strong }, 'B')).toContain('tested in a sandbox');
  });

  test('the evidence names the sandbox and the versions of the agents', () => {
    const candidates = ['A', 'B'].map((alias) => candidate(alias, { coderVersion: `codex 0.16${alias}.0` }));
    const body = comparison({ ...published(), ...strong, candidates }, {}).body;
    expect(body).toContain('- Sandbox: `bubblewrap: 0.8.0, overlay mounts`');
    expect(body).toContain('- Coders: A `codex 0.16A.0`, B `codex 0.16B.0`');
  });
});
