import { describe, expect, test } from 'vitest';
import { COMMAND_NAMES, parseCommand } from '../../../src/core/commands/index.ts';
import {
  findMarker,
  helpReply,
  noteReply,
  type Report,
  type RunView,
  statusReply,
  unknownReply,
} from '../../../src/core/reports/index.ts';
import { coding, judged, nobody, published, RUN, TABLE, waiting } from './sample.ts';

const URL = 'https://github.test/acme/lists/issues/7#issuecomment-3';
const textOf = ({ body }: Report): string => body.split('\n').slice(2).join('\n').trim();
const unknown = (body: string): Report => {
  const command = parseCommand(body);
  if (command?.name !== 'unknown') throw new Error(`${body} is understood`);
  return unknownReply(991, command);
};

test('every reply is found again by the comment that it answers', () => {
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
    `"| \`/auto-dev status\` | shows the status of the run and what it has spent | issue or pull request |"`,
  );
});

describe('an unknown command', () => {
  test('gets a suggestion', () => {
    expect(textOf(unknown('/auto-dev pikc B'))).toMatchInlineSnapshot(
      `"**Not understood:** \`/auto-dev pikc\`. There is no such command. Did you mean \`/auto-dev pick B\`, which opens the pull request with this candidate, or replaces the current one; \`none\` rejects them all? For all commands, comment \`/auto-dev help\`."`,
    );
  });
  test('with a known name gets its syntax', () => {
    expect(textOf(unknown('/auto-dev pick'))).toMatchInlineSnapshot(
      `"**Not understood:** \`/auto-dev pick\`. An argument is missing. Write \`/auto-dev pick B\` or \`/auto-dev pick none\`. For all commands, comment \`/auto-dev help\`."`,
    );
  });
  test('without a similar one gets the list', () => {
    expect(textOf(unknown('/auto-dev @ada'))).toMatchInlineSnapshot(
      `"**Not understood:** <code>/auto-dev &#64;&#8203;ada</code>. There is no such command. For all commands, comment \`/auto-dev help\`."`,
    );
  });
});

describe('the status reply', () => {
  test('covers an active run', () => {
    expect(textOf(statusReply(1, coding(), URL))).toMatchInlineSnapshot(
      `"**Run \`r7k2m9q4xa\`: stage 3 of 6, running the coders**, 1m 12s. 2 of 4 coders finished. Spent at most $0.58 of <span>$</span>5.00. See [the status comment](https://github.test/acme/lists/issues/7#issuecomment-3) for details."`,
    );
  });
  test('covers a run that waits for a pick', () => {
    expect(textOf(statusReply(1, judged({ state: 'awaiting_pick' }), URL))).toMatchInlineSnapshot(`
      "**Run \`r7k2m9q4xa\`: waiting for you to choose a candidate**, 2m 51s. 4 of 4 coders finished. Spent $0.58 of <span>$</span>5.00. See [the status comment](https://github.test/acme/lists/issues/7#issuecomment-3) for details.

      To choose, comment \`/auto-dev pick B\` or \`/auto-dev pick none\`."
    `);
  });
  test('names a candidate that can be picked', () => {
    const { ranking, ...view } = judged({ state: 'awaiting_pick' });
    const failed = ranking.map((one) => (one.alias === 'B' ? { ...one, survivor: false } : one));
    expect(textOf(statusReply(1, { ...view, ranking: failed }, URL))).toContain(
      'To choose, comment `/auto-dev pick C` or `/auto-dev pick none`.',
    );
  });
  test('covers a failed run', () => {
    const trouble = { code: 'BASE_BROKEN', message: 'The base does not build.', advice: 'Mend it.' } as const;
    expect(
      textOf(statusReply(1, { ...coding(), state: 'failed', trouble, candidates: [] }, null)),
    ).toMatchInlineSnapshot(`
      "**Run \`r7k2m9q4xa\`: failed**, 1m 12s. Spent $0.58 of <span>$</span>5.00.

      **Why:** The base does not build. **Next:** Mend it."
    `);
  });
  test('covers an issue without a run', () => {
    expect(textOf(statusReply(1, null, null))).toMatchInlineSnapshot(
      `"There is no run here. To start one, comment \`/auto-dev run\` on an issue or add the label \`auto-dev\` to it."`,
    );
  });
  test('says that something was published only if it was', () => {
    const refused = { ...TABLE, refusedBecause: 'GitHub refused it.' };
    const endOf = (view: RunView) => /: (.*?)\*\*, /.exec(textOf(statusReply(1, view, null)))?.[1];
    expect([
      endOf(published()),
      endOf(published({ state: 'closed' })),
      endOf(judged({ state: 'published', outcome: refused })),
      endOf(judged({ state: 'published', outcome: { ...refused, isDamaged: true } })),
      endOf(nobody({ state: 'published', outcome: TABLE })),
      endOf(waiting({ state: 'closed' })),
    ]).toEqual([
      'done, result published',
      'pull request closed without merging',
      'done, but GitHub refused its pull request',
      "done, but without a pull request, because the winner's stored changes are damaged",
      'done, no candidate passed',
      'ended without a pull request',
    ]);
  });
  test.each(['published', 'merged', 'closed', 'cancelled', 'refused'] as const)('%s', (state) => {
    expect(textOf(statusReply(1, { ...judged(), state }, null))).toContain(`**Run \`${RUN}\`: `);
    expect(textOf(statusReply(1, { ...judged(), state }, null))).not.toContain('stage');
  });
});
