import { expect, test } from 'vitest';
import {
  checkText,
  comparison,
  pickComment,
  pullRequest,
  statusComment,
  statusReply,
} from '../../../src/core/reports/index.ts';
import { judged } from './sample.ts';

const pageUrl = 'https://runoff.example/runs/r7k2m9q4xa';

test('whatever Runoff writes about a run links to its page, once, and nowhere without pages', () => {
  const texts = (view: ReturnType<typeof judged>): Record<string, string> => ({
    status: statusComment(view).body,
    reply: statusReply(1, view, null).body,
    pull: pullRequest(view, 'B', {}).body,
    comparison: comparison(view, {})[0].body,
    choice: pickComment(view, {})[0].body,
  });
  const linked = { ...judged(), pageUrl };
  for (const [name, text] of Object.entries(texts(linked)))
    expect(`${name} ${text.split(`(${pageUrl})`).length - 1}`).toBe(`${name} 1`);
  for (const text of Object.values(texts(judged()))) expect(text).not.toContain('in the browser');
  expect(checkText(linked).detailsUrl).toBe(pageUrl);
  expect(checkText(judged())).not.toHaveProperty('detailsUrl');
});
