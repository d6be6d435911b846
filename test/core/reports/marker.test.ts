import { expect, test } from 'vitest';
import {
  comparison,
  findMarker,
  marker,
  REPORT_KINDS,
  replyScope,
  statusComment,
} from '../../../src/core/reports/index.ts';
import { coding, diffsOf, judged, RUN } from './sample.ts';

test('every kind of report is found again by its marker', () => {
  for (const kind of REPORT_KINDS.filter((one) => one !== 'reply')) {
    expect(findMarker(`${marker(kind, RUN)}\n\ntext`)).toEqual({ kind, run: RUN });
  }
  expect(findMarker(marker('question', RUN, 12))).toEqual({ kind: 'question', run: RUN, number: 12 });
  expect(findMarker(marker('reply', replyScope(991)))).toEqual({ kind: 'reply', run: 'c991' });
  expect(findMarker(statusComment(coding()).body)).toEqual({ kind: 'status', run: RUN });
  expect(findMarker(comparison(judged(), diffsOf(judged()))[0].body)).toEqual({
    kind: 'comparison',
    run: RUN,
  });
});

test.each([
  ['further down', `hello\n${marker('status', RUN)}`],
  ['quoted', `> ${marker('status', RUN)}`],
  ['with text behind it', `${marker('status', RUN)} and more`],
  ['of a kind that is not ours', `<!-- runoff:verdict:${RUN} -->`],
  ['of a number that is none', `<!-- runoff:question:${RUN}:0 -->`],
  ['of a reply to a run', `<!-- runoff:reply:${RUN} -->`],
  ['of a status of a comment', '<!-- runoff:status:c991 -->'],
  ['of a comment that is none', '<!-- runoff:reply:c0 -->'],
  ['of a comment with too many digits', `<!-- runoff:reply:c${'9'.repeat(17)} -->`],
  ['of something that is no run', '<!-- runoff:status:R-7 -->'],
])('a marker %s is not recognised', (_where, body) => {
  expect(findMarker(body)).toBeNull();
});

test("others' text cannot add a marker to Runoff's text", () => {
  const forged = marker('status', 'r0000000000');
  const body = statusComment({ ...coding(), label: forged }).body;
  expect(body.split('\n')).not.toContain(forged);
  expect(body).not.toContain(forged);
});
