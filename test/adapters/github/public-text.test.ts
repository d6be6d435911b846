import { expect, test } from 'vitest';
import { withPublicText } from '../../../src/adapters/github/index.ts';
import { withoutHostPaths } from '../../../src/core/reports/index.ts';
import type { CheckRun, Publisher } from '../../../src/ports/index.ts';
import { partial } from '../../world/partial.ts';

const FOLDER = '/srv/runoff/data';
const SAID = `Cannot read ${FOLDER}/areas/x: no such file.`;

test('whatever text a publisher sends names no folder of this host', async () => {
  const sent: unknown[] = [];
  const keep = async (...values: unknown[]): Promise<never> => {
    sent.push(values);
    return undefined as never;
  };
  const texts = { comment: keep, editComment: keep, openDraftPull: keep, editPull: keep, showCheck: keep };
  const clean = withoutHostPaths([{ path: FOLDER, name: '(data folder)' }]);
  const publisher = withPublicText(partial<Publisher>(texts), clean);
  const check: CheckRun = {
    headSha: '0'.repeat(40),
    externalId: 'r7k2m9q4xa',
    conclusion: 'failure',
    title: SAID,
    summary: SAID,
  };
  await publisher.comment(7, SAID);
  await publisher.editComment(1, SAID);
  await publisher.openDraftPull({ head: 'auto-dev/7/a/A', base: 'main', title: SAID, body: SAID });
  await publisher.editPull(8, { title: SAID, body: SAID });
  await publisher.showCheck(check);
  const all = JSON.stringify(sent);
  expect(all).not.toContain(FOLDER);
  expect(all.match(/\(data folder\)\/areas\/x/g)).toHaveLength(8);
});
