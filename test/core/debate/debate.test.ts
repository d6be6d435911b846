import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyEdits,
  applyVerdicts,
  assignCritics,
  type CriticTurn,
  Critique,
  type DebateRound,
  debateEnd,
  hasConsensus,
  type LedgerEntry,
  maxSpecLength,
  questionsOf,
  recordCritique,
  reopenUnedited,
  type SpecIssue,
  Synthesis,
  sectionsOf,
  specChanges,
  specDiff,
  ZERO_COST,
} from '../../../src/core/debate/index.ts';

const SPEC = '# Spec\n\n- Read the file.\n- Write the file.\n\n## More\n\n- Nothing.\n';
const ISSUE: SpecIssue = {
  title: 'No encoding',
  quote: 'Read the file.',
  severity: 'blocking',
  scenario: 'A file in Latin-1 is read as UTF-8.',
  edit: 'Read the file as UTF-8.',
  needsHuman: false,
};
const critique = (over: Partial<Critique> = {}): Critique => ({
  issues: [],
  rechecked: [],
  approved: false,
  ...over,
});
const said = (
  issues: readonly SpecIssue[],
  critic = 'qa',
  ledger: readonly LedgerEntry[] = [],
  sections: readonly string[] | null = null,
) =>
  recordCritique(
    ledger,
    { critic, round: 0, critique: critique({ issues: [...issues] }) },
    { spec: SPEC, sections },
  );
const entry = (over: Partial<LedgerEntry> = {}): LedgerEntry => ({
  ...ISSUE,
  id: 'I1',
  round: 0,
  critic: 'qa',
  status: { kind: 'open' },
  upheld: 0,
  ...over,
});
const REJECTED = { kind: 'rejected', because: 'No.' } as const;
const ACCEPTED = { kind: 'accepted', because: 'Yes.' } as const;

describe('the ledger', () => {
  test('numbers issues in the order in which they come', () => {
    const first = said([
      ISSUE,
      { ...ISSUE, title: 'No mode', edit: 'Write it with mode 600.', quote: 'Write the file.' },
    ]);
    expect(first.raised).toEqual(['I1', 'I2']);
    expect(first.ledger).toMatchObject([{ id: 'I1', critic: 'qa', severity: 'blocking' }, { id: 'I2' }]);
  });

  test.each([
    ['without a scenario', { scenario: ' ' }, 'It names no case that would fail.'],
    ['whose quote nobody finds', { quote: 'Delete the file.' }, 'Its quote is not in the spec.'],
  ])('counts an issue %s as minor', (_, over, lowered) => {
    expect(said([{ ...ISSUE, ...over }]).ledger).toMatchObject([
      { severity: 'minor', loweredBecause: lowered },
    ]);
  });

  test('counts an issue about an unchanged part as minor in later rounds', () => {
    const [, more = ''] = sectionsOf(SPEC);
    expect(said([ISSUE], 'qa', [], [more]).ledger[0]?.severity).toBe('minor');
    expect(said([ISSUE], 'qa', [], [sectionsOf(SPEC)[0] ?? '']).ledger[0]?.severity).toBe('blocking');
  });

  test('finds a quote whatever its spaces, and does not count the same issue twice', () => {
    const once = said([{ ...ISSUE, quote: 'Read  the\nfile.' }]);
    expect(once.ledger[0]?.severity).toBe('blocking');
    const twice = said([{ ...ISSUE, title: 'no ENCODING!' }], 'security', once.ledger);
    expect(twice).toMatchObject({ raised: [], upheldIssues: [] });
    expect(twice.ledger).toHaveLength(1);
  });

  describe('of two critics with the same issue', () => {
    const vague = { ...ISSUE, scenario: '' };
    const grave = { id: 'I1', severity: 'blocking', scenario: ISSUE.scenario, critic: 'product', round: 0 };

    test.each([
      ['the first', { qa: ISSUE, product: vague }, { ...grave, critic: 'qa' }],
      ['the second', { qa: vague, product: ISSUE }, grave],
    ])('keeps what %s shows to be grave, whoever comes first', (_, { qa, product }, kept) => {
      const first = said([qa]);
      const both = said([product], 'product', first.ledger);
      expect(both.ledger).toMatchObject([kept]);
      expect(both.ledger[0]?.loweredBecause).toBeUndefined();
      expect([first.raised, both.raised]).toEqual([['I1'], []]);
      expect(questionsOf(both)).toMatchObject([{ severity: 'blocking' }]);
    });

    test('takes a case that the first did not name, also after a rejection', () => {
      const ledger = [entry({ ...vague, severity: 'minor', loweredBecause: 'x', status: REJECTED })];
      expect(said([ISSUE], 'product', ledger).ledger).toMatchObject([
        { ...grave, status: { kind: 'open' }, upheld: 1 },
      ]);
    });
  });

  test('makes an issue graver that a person is asked about', () => {
    const status: LedgerEntry['status'] = {
      kind: 'asked',
      because: 'x',
      question: { text: 'Which?', options: [], severity: 'minor', assume: 'a' },
    };
    const ledger = [entry({ scenario: '', severity: 'minor', loweredBecause: 'x', status })];
    expect(said([ISSUE], 'product', ledger).ledger).toMatchObject([
      { severity: 'blocking', critic: 'product', status },
    ]);
  });

  test('opens an accepted issue again when its edit did not settle it', () => {
    const ledger = [entry({ status: ACCEPTED })];
    const again = said([ISSUE], 'product', ledger);
    expect(again).toMatchObject({ raised: ['I1'], ledger: [{ status: { kind: 'open' }, critic: 'qa' }] });
    const gone = said([{ ...ISSUE, quote: 'Delete the file.' }], 'product', [
      entry({ status: ACCEPTED, quote: 'Delete the file.' }),
    ]);
    expect(gone).toMatchObject({ raised: [], ledger: [{ status: ACCEPTED }] });
  });

  test('reopens a rejected issue when anybody raises it again, once per round', () => {
    const ledger = [entry({ status: REJECTED })];
    const again = recordCritique(
      ledger,
      {
        critic: 'qa',
        round: 1,
        critique: critique({ issues: [ISSUE], rechecked: [{ issue: 'I1', stands: true, because: 'x' }] }),
      },
      { spec: SPEC, sections: null },
    );
    expect(again).toMatchObject({
      raised: [],
      upheldIssues: ['I1'],
      ledger: [{ upheld: 1, status: { kind: 'open' } }],
    });
  });

  test("lets nobody uphold another critic's or an accepted issue by its number", () => {
    const recheck = (critic: string, fate: LedgerEntry['status']) =>
      recordCritique(
        [entry({ status: fate })],
        {
          critic,
          round: 1,
          critique: critique({ rechecked: [{ issue: 'I1', stands: true, because: 'x' }] }),
        },
        { spec: SPEC, sections: null },
      ).upheldIssues;
    expect(recheck('security', REJECTED)).toEqual([]);
    expect(recheck('qa', ACCEPTED)).toEqual([]);
    expect(recheck('qa', REJECTED)).toEqual(['I1']);
  });

  test('counts a rejection as settled when its critic does not insist', () => {
    const heardAgain = (critic: string) =>
      recordCritique(
        [entry({ status: REJECTED })],
        { critic, round: 1, critique: critique({ approved: true }) },
        { spec: SPEC, sections: null },
      ).ledger[0]?.withdrawn;
    expect(heardAgain('qa')).toBe(true);
    expect(heardAgain('security')).toBeUndefined();
  });

  test('applies verdicts, and keeps issues open without a verdict or an applicable edit', () => {
    const ledger = [entry(), entry({ id: 'I2' }), entry({ id: 'I3' })];
    const verdicts = [
      { issue: 'I1', verdict: 'accept' as const, because: 'Yes.' },
      { issue: 'I2', verdict: 'ask' as const, because: 'Who knows.' },
      { issue: 'I9', verdict: 'accept' as const, because: 'There is none.' },
    ];
    const next = applyVerdicts(ledger, { verdicts, edits: [] });
    expect(next.map(({ status }) => status.kind)).toEqual(['accepted', 'asked', 'open']);
    expect(reopenUnedited(ledger, next, []).map(({ status }) => status.kind)).toEqual([
      'open',
      'asked',
      'open',
    ]);
    expect(reopenUnedited(ledger, next, ['I1']).map(({ status }) => status.kind)).toEqual([
      'accepted',
      'asked',
      'open',
    ]);
  });

  test('leaves questions and unresolved blocking issues to a person', () => {
    const ledger = [
      entry({
        status: {
          kind: 'asked',
          because: 'x',
          question: { text: 'Which?', options: [], severity: 'minor', assume: 'a' },
        },
      }),
      entry({ id: 'I2', status: REJECTED, withdrawn: true }),
      entry({ id: 'I3', status: REJECTED, upheld: 1 }),
      entry({ id: 'I4', status: { kind: 'open' } }),
      entry({ id: 'I5', severity: 'major' }),
      entry({ id: 'I6', status: ACCEPTED }),
    ];
    expect(questionsOf({ ledger }).map(({ text, severity }) => `${severity} ${text}`)).toEqual([
      'blocking Which?',
      'blocking No encoding: what should it be?',
      'blocking No encoding: what should it be?',
    ]);
  });
});

describe('edits of a spec', () => {
  const rules = { original: SPEC, fits: () => true };
  const edited = (find: string, replace: string, over: Partial<LedgerEntry> = {}, more = {}) =>
    applyEdits(SPEC, { edits: [{ issue: 'I1', find, replace }] }, [entry({ status: ACCEPTED, ...over })], {
      ...rules,
      ...more,
    });

  test('replace exactly what they quote', () => {
    expect(edited('- Read the file.', '- Read the file, $& and $1.')).toMatchObject({
      spec: SPEC.replace('- Read the file.', () => '- Read the file, $& and $1.'),
      edited: ['I1'],
      refused: [],
    });
  });

  test.each([
    ['a quote that is not there', 'Delete', 'x', {}, {}, /exactly once/],
    ['a quote that is there twice', 'the file', 'x', {}, {}, /exactly once/],
    ['an issue that was not accepted', '- Nothing.', '', { status: REJECTED }, {}, /not accepted/],
    ['the same words', '- Nothing.', '- Nothing.', {}, {}, /changes nothing/],
    ['growth', '- Nothing.', 'x'.repeat(5_000), {}, {}, /grow/],
    ['a text that may not stand', '- Nothing.', 'x', {}, { fits: () => false }, /form/],
  ])('are refused for %s', (_, find, replace, over, more, why) => {
    const { spec, refused } = edited(find, replace, over, more);
    expect(spec).toBe(SPEC);
    expect(refused).toEqual([expect.stringMatching(why)]);
  });

  test('never exceed the limit of a spec, however many they are', () => {
    const edits = fc.array(
      fc.record({
        issue: fc.constant('I1'),
        find: fc.constantFrom('# Spec', '## More', 'Nothing', 'xx'),
        replace: fc.string({ maxLength: 900 }),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(edits, (many) => {
        const { spec } = applyEdits(SPEC, { edits: many }, [entry({ status: ACCEPTED })], rules);
        expect(spec.length).toBeLessThanOrEqual(maxSpecLength(SPEC));
      }),
    );
  });
});

describe('differences', () => {
  test('count the larger of lines added and removed', () => {
    expect(specDiff('a\nb\nc\nd\n', 'a\nb\nx\ny\nd\n')).toMatchObject({ changed: 2 / 5 });
    expect(specDiff('a\n', 'a\n')).toEqual({ text: '', changed: 0 });
    expect(specDiff('a\nb\n', 'a\nc\n').text).toMatch(/^@@ .*@@\n a\n-b\n\+c\n$/);
  });

  test('find the sections that changed', () => {
    const none = { sections: [], removed: [], unchanged: ['# Spec', '## More'] };
    expect(specChanges(SPEC, SPEC)).toEqual({ ...none, isEqual: true });
    expect(specChanges(SPEC, SPEC.replace('Nothing', 'Something'))).toEqual({
      isEqual: false,
      sections: ['## More\n\n- Something.'],
      removed: [],
      unchanged: ['# Spec'],
    });
    const [spec = '', more = ''] = sectionsOf(SPEC);
    expect(specChanges(SPEC, spec)).toMatchObject({ sections: [], removed: [more], unchanged: ['# Spec'] });
    expect(specChanges(`${SPEC}\n## More\n\n- Twice.\n`, SPEC)).toMatchObject({
      sections: [],
      removed: ['## More\n\n- Twice.'],
    });
    // Edited, not removed: the first line of a text without headings, and a heading.
    expect(specChanges('Two.\n\nRest.\n', 'Three.\n\nRest.\n')).toMatchObject({ removed: [] });
    expect(specChanges(SPEC, SPEC.replace('## More', '## Further'))).toMatchObject({ removed: [] });
    // Moved: nothing has other words, and yet it is another text.
    expect(specChanges(SPEC, `${more}\n\n${spec}\n`)).toMatchObject({
      isEqual: false,
      sections: [],
      removed: [],
    });
    expect(sectionsOf('no heading at all')).toEqual(['no heading at all']);
  });
});

const heard = (over: Partial<Extract<CriticTurn, { kind: 'answered' }>> = {}): CriticTurn => ({
  critic: 'qa',
  model: 'm',
  kind: 'answered',
  approved: true,
  raised: [],
  upheldIssues: [],
  checks: [],
  ...over,
});

describe('consensus', () => {
  const failed: CriticTurn = { critic: 'qa', model: 'm', kind: 'failed', why: 'away' };
  const parts = { turns: [heard(), heard()], ledger: [], changed: 0, required: 2 };

  test('requires enough approvals, no blocking issue, and a stable text', () => {
    expect(hasConsensus(parts)).toBe(true);
    expect(hasConsensus({ ...parts, turns: [heard(), failed] })).toBe(false);
    expect(hasConsensus({ ...parts, turns: [heard(), failed], required: 1 })).toBe(true);
    expect(hasConsensus({ ...parts, turns: [heard(), heard({ approved: false })] })).toBe(false);
    expect(hasConsensus({ ...parts, changed: 0.05 })).toBe(false);
    expect(hasConsensus({ ...parts, ledger: [entry()] })).toBe(false);
    expect(hasConsensus({ ...parts, ledger: [entry({ severity: 'minor' })] })).toBe(true);
    expect(hasConsensus({ ...parts, ledger: [entry({ status: REJECTED })] })).toBe(false);
    expect(hasConsensus({ ...parts, ledger: [entry({ status: REJECTED, withdrawn: true })] })).toBe(true);
    expect(hasConsensus({ ...parts, turns: [], required: 0 })).toBe(false);
  });

  test('ends a debate before any other reason does', () => {
    const round: DebateRound = {
      roundNumber: 4,
      critiques: [heard()],
      hasConsensus: true,
      diffFromPrevious: '',
      changed: 0,
      cost: ZERO_COST,
    };
    const end = (over: Partial<Parameters<typeof debateEnd>[0]> = {}, of: Partial<DebateRound> = {}) =>
      debateEnd({
        round: { ...round, ...of },
        ledger: [],
        maxRounds: 5,
        grewTooMuch: false,
        before: undefined,
        spent: false,
        unaffordable: null,
        ...over,
      })?.stop;
    expect(end({ grewTooMuch: true, spent: true, unaffordable: 'x' })).toBe('consensus');
    const open = { hasConsensus: false, critiques: [heard({ approved: false, raised: ['I1'] })] };
    expect(end({ unaffordable: 'The budget is used up.' }, open)).toBe('budget');
    expect(end({ spent: true }, open)).toBe('budget');
    expect(end({ grewTooMuch: true }, open)).toBe('growth');
    expect(end({}, open)).toBe('rounds');
    expect(end({}, { ...open, roundNumber: 3 })).toBeUndefined();
    expect(end({}, { hasConsensus: false, critiques: [failed], roundNumber: 0 })).toBe('failed');
    expect(end({}, { hasConsensus: false, critiques: [heard({ approved: false })], roundNumber: 0 })).toBe(
      'repeated',
    );
  });
});

describe('seats', () => {
  const family = (model: string) => model.split('/')[0] ?? '';
  const models = ['a/1', 'a/2', 'b/1'];
  const seated = (round: number, rotate: boolean, lost: readonly string[] = []) =>
    assignCritics(['x', 'y', 'z'], models, family, { round, rotate, unresponsive: new Set(lost) }).map(
      ({ model }) => model,
    );

  test('go to every family before a second model of one', () => {
    expect(seated(0, false)).toEqual(['a/1', 'b/1', 'a/2']);
    expect(seated(3, false)).toEqual(['a/1', 'b/1', 'a/2']);
    expect(seated(1, true)).toEqual(['b/1', 'a/2', 'a/1']);
  });

  test('skip a failed model, unless no other is left', () => {
    expect(seated(1, false, ['b/1'])).toEqual(['a/1', 'a/2', 'a/1']);
    expect(seated(1, false, models)).toEqual(['a/1', 'b/1', 'a/2']);
    expect(assignCritics(['x'], [], family, { round: 0, rotate: false })).toEqual([]);
  });
});

test('answers of models are bounded', () => {
  expect(Critique.safeParse(critique({ issues: Array.from({ length: 9 }, () => ISSUE) })).success).toBe(
    false,
  );
  expect(Critique.safeParse(critique({ issues: [{ ...ISSUE, edit: 'x'.repeat(801) }] })).success).toBe(false);
  expect(
    Synthesis.safeParse({ verdicts: [{ issue: 'I1', verdict: 'maybe', because: 'x' }], edits: [] }).success,
  ).toBe(false);
});
