import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pullTask } from '../../../src/core/brief/index.ts';

const pull = { number: 12, title: 'Round half up' };
const length = (text: string) => [...text].length;

test('of very many remarks the newest are kept, with the number of the others', () => {
  const remarks = Array.from({ length: 40 }, (_, n) => ({
    author: 'mona',
    body: `${n}!${'x'.repeat(2_000)}`,
  }));
  const { body } = pullTask(pull, { kind: 'remarks', remarks });
  expect(body).toContain('The 29 oldest of 40 remarks were left out for their length.');
  expect(body).toContain('> 39!');
  expect(body).toContain('> 29!');
  expect(body).not.toContain('> 28!');
});

test('a remark that is too long is visibly cut', () => {
  const { body } = pullTask(pull, {
    kind: 'remarks',
    remarks: [{ author: 'mona', body: '🎉'.repeat(90_000) }],
  });
  expect(body).toMatch(/🎉 \[…\]$/u);
  expect(length(body)).toBeLessThan(9_000);
});

test('any remark stays quoted, limited in length, with a title of one line', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('\r\n### x\u2028y'));
  const remark = fc.record({ author: fc.constant('mona'), body: text, path: text });
  const check = fc.record({ name: text, conclusion: fc.constant('failure'), text });
  const findings = fc.oneof(
    fc.record({ kind: fc.constant('remarks' as const), remarks: fc.array(remark, { minLength: 1 }) }),
    fc.record({ kind: fc.constant('checks' as const), checks: fc.array(check, { minLength: 1 }) }),
  );
  fc.assert(
    fc.property(text, findings, (title, found) => {
      const task = pullTask({ number: 12, title }, found);
      expect(task.title).not.toMatch(/[\r\n\u2028\u2029]/);
      const frame = task.body.split(/\r\n|[\r\n\u2028\u2029]/).filter((line) => !line.startsWith('>'));
      const headings = frame.filter((line) => line.startsWith('###'));
      expect(headings).toHaveLength(found.kind === 'remarks' ? found.remarks.length : found.checks.length);
      expect(length(task.body)).toBeLessThan(40_000);
    }),
  );
});
