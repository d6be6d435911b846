import { describe, expect, test } from 'vitest';
import { heldSince } from '../../../src/core/model/index.ts';
import { quotaStep } from '../../../src/core/settings/index.ts';

describe('a folder with a quota', () => {
  test('is unchanged while it fits, to the last byte', () => {
    expect(quotaStep(20, 20, 0)).toEqual({ kind: 'fits' });
    expect(quotaStep(20, 20, 4)).toEqual({ kind: 'fits' });
  });

  test('loses data by decreasing age, and then accepts no further run', () => {
    const steps = [0, 1, 2, 3, 4, 5].map((pruned) => quotaStep(25e9, 20e9, pruned));
    expect(steps.map((step) => (step.kind === 'prune' ? step.unused.label : step.kind))).toEqual([
      'two weeks',
      'three days',
      'a day',
      'six hours',
      'ten minutes',
      'full',
    ]);
    expect(steps[5]).toMatchObject({ why: expect.stringContaining('MAX_DISK (25.0 GB of 20.0 GB)') });
  });

  test('keeps what active stages prepared, but not that of waiting or ended runs', () => {
    const run = (
      state: 'queued' | 'coded' | 'awaiting_answer' | 'published',
      ...starts: readonly number[]
    ) => ({
      state,
      stages: starts.map((startedAt) => ({ startedAt })),
    });
    expect(heldSince([])).toBe(Number.POSITIVE_INFINITY);
    expect(heldSince([run('queued'), run('awaiting_answer', 1), run('published', 1, 2)])).toBe(
      Number.POSITIVE_INFINITY,
    );
    expect(heldSince([run('coded', 10, 70), run('coded', 20, 50), run('published', 1)])).toBe(50);
  });
});
