import { expect, test } from 'vitest';
import { finalReport, runJson } from '../../../src/cli/render/index.ts';
import { comparison } from '../../../src/core/reports/index.ts';
import { judged } from './sample.ts';

const learned = [
  '`coders: auto` chose 2 contestants of 8 for a bug: from 12 earlier runs in this repository.',
  'Confidence takes 30 earlier runs of this repository into account: they give no reason to lower the estimated chance.',
];

test('comparison, final report and JSON say what earlier runs changed, and nothing where there was nothing', () => {
  const view = { ...judged(), learned };
  const bodies = comparison(view, {})
    .map(({ body }) => body)
    .join('\n');
  const report = finalReport(view, { width: 400, colour: false }).join('\n');
  for (const [i, sentence] of learned.entries()) {
    expect(bodies).toContain(`- ${sentence}`);
    expect(report).toContain(sentence);
    expect(runJson(view).run.learned[i]).toBe(sentence);
  }
  expect(comparison(judged(), {})[0]?.body).not.toContain('earlier run');
  expect(runJson(judged()).run.learned).toEqual([]);
});
