import { describe, expect, test } from 'vitest';
import { PERSONA_NAME, parsePersona } from '../../../src/core/debate/index.ts';

describe('a persona', () => {
  test('has a section for specs and one for diffs', () => {
    const text =
      '# QA\n\nOf no use.\n\n## Spec\n\nReads it.\n\n### More\n\n- a\n\n## Code ##\r\n\r\nRuns it.\n';
    expect(parsePersona(text)).toEqual({ spec: 'Reads it.\n\n### More\n\n- a', code: 'Runs it.' });
  });

  test('is used as a whole if a section is missing or empty', () => {
    for (const text of ['Look twice.', '## Spec\n\nOnly this.', '## Spec\n\nThis.\n\n## Code\n'])
      expect(parsePersona(text)).toEqual({ spec: text.trim(), code: text.trim() });
  });

  test('is not cut by a heading within a fenced block', () => {
    const spec = '```\n## Code\n```';
    expect(parsePersona(`## Code\n\nb\n\n## Spec\n\n${spec}`)).toEqual({ spec, code: 'b' });
  });

  test('needs some text', () => {
    expect(parsePersona(' \n')).toBeNull();
  });

  test('has a name that ledger and settings can contain', () => {
    expect(['qa', 'data-2'].every((name) => PERSONA_NAME.test(name))).toBe(true);
    expect(['', 'QA', '2nd', 'a/b', '..', `a${'b'.repeat(41)}`].some((name) => PERSONA_NAME.test(name))).toBe(
      false,
    );
  });
});
