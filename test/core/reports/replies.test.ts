import { describe, expect, test } from 'vitest';
import { COMMAND_NAMES, parseCommand } from '../../../src/core/commands/index.ts';
import {
  findMarker,
  helpReply,
  noteReply,
  type Report,
  statusReply,
  unknownReply,
} from '../../../src/core/reports/index.ts';
import { coding, judged, RUN } from './sample.ts';

const URL = 'https://github.test/acme/lists/issues/7#issuecomment-3';
const textOf = ({ body }: Report): string => body.split('\n').slice(2).join('\n').trim();
const unknown = (body: string): Report => {
  const command = parseCommand(body);
  if (command?.name !== 'unknown') throw new Error(`${body} is understood`);
  return unknownReply(991, command);
};

test('every answer is found again by the comment that it answers', () => {
  for (const { body, marker } of [
    helpReply(991),
    noteReply(991, 'Done.'),
    unknown('/auto-dev nothing'),
    statusReply(991, null, null),
  ]) {
    expect(body.startsWith(`${marker}\n`)).toBe(true);
    expect(findMarker(body)).toEqual({ kind: 'reply', run: 'c991' });
    expect(parseCommand(body)).toBeNull();
  }
});

test('help has a row for every command', () => {
  const rows = helpReply(1)
    .body.split('\n')
    .filter((line) => line.startsWith('| `/auto-dev'));
  expect(rows).toHaveLength(COMMAND_NAMES.length);
  expect(rows[1]).toMatchInlineSnapshot(
    `"| \`/auto-dev status\` | says where the run stands and what it has spent | issue or pull request |"`,
  );
});

describe('what was not understood', () => {
  test('has a guess', () => {
    expect(textOf(unknown('/auto-dev pikc B'))).toMatchInlineSnapshot(
      `"**Nothing was done** for \`/auto-dev pikc\`. There is no such command. Did you mean \`/auto-dev pick B\`, which makes this candidate the pull request, now or in place of another; \`none\` opens none? All commands: \`/auto-dev help\`."`,
    );
  });
  test('of a known command says how it is written', () => {
    expect(textOf(unknown('/auto-dev pick'))).toMatchInlineSnapshot(
      `"**Nothing was done** for \`/auto-dev pick\`. Something is missing. Write \`/auto-dev pick B\` or \`/auto-dev pick none\`. All commands: \`/auto-dev help\`."`,
    );
  });
  test('that is like nothing leads to the list', () => {
    expect(textOf(unknown('/auto-dev @ada'))).toMatchInlineSnapshot(
      `"**Nothing was done** for <code>/auto-dev &#64;&#8203;ada</code>. There is no such command. All commands: \`/auto-dev help\`."`,
    );
  });
});

describe('where a run stands', () => {
  test('at work', () => {
    expect(textOf(statusReply(1, coding(), URL))).toMatchInlineSnapshot(
      `"**Run \`r7k2m9q4xa\`: stage 3 of 6, coders at work**, 1m 12s. 2 of 4 coders have ended. Spent $0.58 of 5.00. [The status comment](https://github.test/acme/lists/issues/7#issuecomment-3) has the details."`,
    );
  });
  test('waiting for a person to pick', () => {
    expect(textOf(statusReply(1, judged({ state: 'awaiting_pick' }), URL))).toMatchInlineSnapshot(`
      "**Run \`r7k2m9q4xa\`: waiting for a person to pick a candidate**, 2m 51s. 4 of 4 coders have ended. Spent $0.58 of 5.00. [The status comment](https://github.test/acme/lists/issues/7#issuecomment-3) has the details.

      To pick, comment \`/auto-dev pick B\` or \`/auto-dev pick none\`."
    `);
  });
  test('failed', () => {
    const trouble = { code: 'BASE_BROKEN', message: 'The base does not build.', advice: 'Mend it.' } as const;
    expect(
      textOf(statusReply(1, { ...coding(), state: 'failed', trouble, candidates: [] }, null)),
    ).toMatchInlineSnapshot(`
      "**Run \`r7k2m9q4xa\`: failed**, 1m 12s. Spent $0.58 of 5.00.

      **Why:** The base does not build. **Next:** Mend it."
    `);
  });
  test('nowhere', () => {
    expect(textOf(statusReply(1, null, null))).toMatchInlineSnapshot(
      `"No run is known here. To start one, comment \`/auto-dev run\` on an issue, or set the label \`auto-dev\` there."`,
    );
  });
  test.each(['published', 'merged', 'closed', 'cancelled', 'refused'] as const)('%s', (state) => {
    expect(textOf(statusReply(1, { ...judged(), state }, null))).toContain(`**Run \`${RUN}\`: `);
    expect(textOf(statusReply(1, { ...judged(), state }, null))).not.toContain('stage');
  });
});
