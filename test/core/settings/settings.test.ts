import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Ceilings, capSettings, parseSettings, Settings } from '../../../src/core/settings/index.ts';

const problems = (value: unknown): readonly string[] => {
  const parsed = parseSettings(value);
  return parsed.kind === 'invalid'
    ? parsed.problems.map(({ path, message }) => `${path.join('/')}: ${message}`)
    : [];
};
const settings = (value: unknown): Settings => {
  const parsed = parseSettings(value);
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.settings;
};

describe('a settings file', () => {
  test('says how coders are written', () => {
    expect(settings({ coders: 'auto' }).coders).toEqual([{ agent: 'auto' }]);
    expect(problems({ coders: 'Auto' })).toEqual([
      'coders: coders: write a list, as in `coders: [{ agent: builtin }]`, or `coders: auto` in small letters.',
    ]);
    expect(problems({ coders: ['auto'] })).toEqual([
      'coders/0: coders[0]: write the name after `agent:`, as in `- agent: builtin`.',
    ]);
    expect(problems({ coders: [{ agnt: 'x', agent: 'x' }] })).toEqual([
      'coders/0/agnt: There is no setting `coders[0].agnt`. Did you mean `agent`?',
    ]);
  });

  test('may be empty: every key has a default', () => {
    for (const empty of [{}, null, undefined]) {
      expect(settings(empty)).toMatchObject({
        coders: [{ agent: 'builtin' }],
        candidates: 3,
        timeout: { candidate: 1_800, silence: 300, check: 1_200 },
        budget: { run: 5, candidate: 2 },
        evaluator: ['evidence', 'model'],
        weights: { tests: 50, simplicity: 30, speed: 20 },
        adaptive: { field: 'all', stopEarly: false, oneMore: true, repair: true },
        synthesis: false,
        ci: 'hold',
      });
    }
  });

  test('gets a suggestion for every unknown key', () => {
    expect(
      problems({
        candidats: 3,
        coders: [{ agnt: 'builtin', agent: 'x' }],
        timeout: { silents: '5m' },
        nonsense: 1,
      }),
    ).toEqual([
      'coders/0/agnt: There is no setting `coders[0].agnt`. Did you mean `agent`?',
      'timeout/silents: There is no setting `timeout.silents`. Did you mean `silence`?',
      'candidats: There is no setting `candidats`. Did you mean `candidates`?',
      expect.stringMatching(/^nonsense: There is no setting `nonsense`\. Known here: `coders`, /),
    ]);
  });

  test('gets a message for each wrong key', () => {
    expect(
      problems({ candidates: 0, timeout: { candidate: '0s', check: 'soon' }, coders: [{}], ci: 'never' }),
    ).toEqual([
      'coders/0/agent: coders[0].agent: is missing.',
      'candidates: candidates: must be at least 1.',
      'timeout/candidate: timeout.candidate: write a whole number and a unit: 90s, 30m or 2h.',
      'timeout/check: timeout.check: write a whole number and a unit: 90s, 30m or 2h.',
      'ci: ci: must be `hold` or `run`.',
    ]);
    expect(problems(['a'])).toEqual([': The settings must be groups of keys and values, not a list.']);
    expect(problems('x')).toEqual([': The settings must be groups of keys and values, not a text.']);
    expect(problems({ weights: { tests: 0, simplicity: 0, speed: 0 } })).toEqual([
      'weights: weights: at least one weight must be above 0.',
    ]);
  });

  test('is told what to write where a key is empty, a time has no unit, or a list is none', () => {
    expect(
      problems({
        checks: null,
        timeout: { candidate: 30, check: null },
        evaluator: 'evidence',
        critics: { agents: 'qa' },
        protect: ['**', null],
      }),
    ).toEqual([
      'timeout/candidate: timeout.candidate: write a whole number and a unit: 90s, 30m or 2h.',
      'timeout/check: timeout.check: write a whole number and a unit: 90s, 30m or 2h.',
      'checks: checks: is empty: write a value, or remove the key.',
      'critics/agents: critics.agents: must be a list, such as [a, b].',
      'evaluator: evaluator: must be a list, such as [a, b].',
      'protect/1: protect[1]: is empty: write a value, or remove the key.',
    ]);
    expect(problems(null)).toEqual([]);
  });

  test('is told in plain words what is wrong with a value', () => {
    const told = (value: object) => problems(value).map((text) => text.replace(/^\S+ /, ''));
    expect(told({ candidates: '2', coders: [], budget: { tokens: 1.5, run: true } })).toEqual([
      'coders: must have at least 1 entry.',
      'candidates: must be a number, not a text; write it in digits, without quotes.',
      'budget.run: must be a number, not `true` or `false`.',
      'budget.tokens: must be a whole number.',
    ]);
    expect(told({ checks: { test: ['npm test'] }, instructions: 7, synthesis: 'yes' })).toEqual([
      'checks.test: must be a text, not a list.',
      'synthesis: must be `true` or `false`, not a text.',
      'instructions: must be `read` or `ignore`.',
    ]);
  });

  test('names strategies in order, each once, or gets the list of them', () => {
    expect(settings({ evaluator: ['metrics', 'tournament', 'human'] }).evaluator).toEqual([
      'metrics',
      'tournament',
      'human',
    ]);
    expect(problems({ evaluator: ['evidense'] })).toEqual([
      'evaluator/0: evaluator[0]: there is no strategy "evidense"; did you mean evidence?',
    ]);
    expect(problems({ evaluator: ['evidence', 'vibes'] })).toEqual([
      'evaluator/1: evaluator[1]: there is no strategy "vibes"; known: evidence, model, vote, score, metrics, reviewer, human, tournament.',
    ]);
    expect(problems({ evaluator: ['x'.repeat(500)] })[0]?.length).toBeLessThan(250);
    expect(problems({ evaluator: [7] })).toEqual([
      expect.stringContaining('evaluator[0]: there is no strategy of this kind; known: evidence'),
    ]);
    expect(problems({ evaluator: ['model', 'evidence', 'model'] })).toEqual([
      'evaluator: evaluator: name each strategy once.',
    ]);
    expect(problems({ evaluator: [] })).toHaveLength(1);
    expect(problems({ evaluator: 'model' })).toHaveLength(1);
  });

  test('turns each kind of further round on or off', () => {
    expect(settings({ adaptive: { repair: false } }).adaptive).toEqual({
      field: 'all',
      stopEarly: false,
      oneMore: true,
      repair: false,
    });
    expect(problems({ adaptive: { onemor: true } })).toEqual([
      'adaptive/onemor: There is no setting `adaptive.onemor`. Did you mean `oneMore`?',
    ]);
    expect(problems({ adaptive: { repair: 'yes' }, synthesis: 1 })).toEqual([
      'adaptive/repair: adaptive.repair: must be `true` or `false`, not a text.',
      'synthesis: synthesis: must be `true` or `false`, not a number.',
    ]);
  });

  test('cannot name addresses, only hosts', () => {
    for (const host of [
      'https://x.org',
      'x.org/path',
      '*.org',
      'user@x.org',
      'X.org',
      'x.org:99999999',
      '[::1]',
    ]) {
      expect(problems({ network: { allow: [host] } }), host).toHaveLength(1);
    }
    expect(settings({ network: { allow: ['x.org', 'y.org:8443'] } }).network.allow).toEqual([
      'x.org',
      'y.org:8443',
    ]);
  });

  test('without a number of candidates leaves it to the operator', () => {
    expect(parseSettings({}, { debate: 'always' })).toMatchObject({ settings: { debate: 'always' } });
    expect(parseSettings({ debate: 'auto' }, { debate: 'always' })).toMatchObject({
      settings: { debate: 'auto' },
    });
    expect(parseSettings({}, { candidates: 5 })).toMatchObject({ settings: { candidates: 5 } });
    expect(parseSettings(null, { candidates: 5 })).toMatchObject({ settings: { candidates: 5 } });
    expect(parseSettings({ candidates: 2 }, { candidates: 5 })).toMatchObject({
      settings: { candidates: 2 },
    });
    expect(parseSettings([], { candidates: 5 })).toMatchObject({ kind: 'invalid' });
  });

  test('is parsed or rejected, whatever its content', () => {
    const known = fc.constantFrom(
      'label',
      'coders',
      'candidates',
      'timeout',
      'budget',
      'weights',
      '__proto__',
      'constructor',
    );
    const value = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }),
      fc.dictionary(known, fc.anything()),
    );
    fc.assert(
      fc.property(value, (anything) => {
        const parsed = parseSettings(anything);
        if (parsed.kind === 'ok') return;
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { message } of parsed.problems) expect(message).toMatch(/[.!?]$/);
      }),
      { numRuns: 1_000 },
    );
  });

  test('has a description for every setting', () => {
    for (const [key, field] of Object.entries(Settings.shape)) {
      const inner = 'innerType' in field.def ? (field.def.innerType as { shape?: object }) : undefined;
      expect(field.description !== undefined || inner?.shape !== undefined, key).toBe(true);
    }
  });
});

describe("the operator's ceilings", () => {
  const CEILINGS: Ceilings = {
    debates: true,
    candidates: 4,
    budgetRun: 3,
    budgetCandidate: 1.5,
    timeoutCandidateSeconds: 900,
    runSeconds: 86_400,
    networkAllow: ['registry.example.org', 'x.org:8443'],
    day: {
      runsOfRepository: 50,
      runsOfUser: 20,
      runsOfInstallation: 200,
      budgetOfUser: 50,
      budgetOfInstallation: 100,
    },
  };

  test('lower higher values, and report it', () => {
    const wanted = settings({
      candidates: 12,
      budget: { run: 100, candidate: 50 },
      timeout: { candidate: '2h', silence: '1h', check: '10m' },
      network: { allow: ['registry.example.org:443', 'x.org', 'x.org:8443', 'evil.org'] },
    });
    const { settings: capped, lowered } = capSettings(wanted, CEILINGS);
    expect(capped).toMatchObject({
      candidates: 4,
      budget: { run: 3, candidate: 1.5 },
      timeout: { candidate: 900, silence: 900, check: 600 },
      network: { allow: ['registry.example.org:443', 'x.org:8443'] },
    });
    expect(lowered).toEqual([
      'budget.run was lowered from 100 US dollars to 3 US dollars, the most this server allows.',
      'budget.candidate was lowered from 50 US dollars to 1.5 US dollars, the most this server allows.',
      'network.allow: x.org was left out, this server does not allow it.',
      'network.allow: evil.org was left out, this server does not allow it.',
      'candidates was lowered from 12 to 4, the most this server allows.',
      'timeout.candidate was lowered from 7200 s to 900 s, the most this server allows.',
      'timeout.silence was lowered from 3600 s to 900 s, the most this server allows.',
    ]);
  });

  test('keep lower values', () => {
    const wanted = settings({
      candidates: 2,
      budget: { run: 1, candidate: 1 },
      timeout: { candidate: '10m', check: '10m' },
    });
    expect(capSettings(wanted, CEILINGS)).toEqual({ settings: wanted, lowered: [] });
  });

  test('allow models without a price only with a token limit of the operator', () => {
    const wanted = settings({ budget: { tokens: 5_000_000 } });
    expect(capSettings(wanted, CEILINGS)).toMatchObject({
      settings: { budget: { run: 3, candidate: 1.5 } },
      lowered: expect.arrayContaining([expect.stringContaining('budget.tokens was left out')]),
    });
    expect(capSettings(wanted, CEILINGS).settings.budget).not.toHaveProperty('tokens');
    const allowing = capSettings(wanted, { ...CEILINGS, tokensCandidate: 1_000_000 });
    expect(allowing.settings.budget.tokens).toBe(1_000_000);
    expect(allowing.lowered).toEqual(
      expect.arrayContaining([
        'budget.tokens was lowered from 5000000 to 1000000, the most this server allows.',
      ]),
    );
  });

  test('can forbid debates, and report it only if they were requested', () => {
    const forbidden = { ...CEILINGS, debates: false };
    const sentence = 'debate was lowered from always to never: this server allows no debates.';
    expect(capSettings(settings({ debate: 'always' }), forbidden)).toMatchObject({
      settings: { debate: 'never' },
      lowered: expect.arrayContaining([sentence]),
    });
    const silent = capSettings(settings({}), forbidden);
    expect(silent.settings.debate).toBe('never');
    expect(silent.lowered).not.toContain(sentence);
    expect(capSettings(settings({ debate: 'always' }), CEILINGS).settings.debate).toBe('always');
  });

  test('allow no further candidate at the limit', () => {
    const oneMore = (candidates: number) =>
      capSettings(settings({ candidates }), CEILINGS).settings.adaptive.oneMore;
    expect([3, 4, 5].map(oneMore)).toEqual([true, false, false]);
    expect(capSettings(settings({ candidates: 4 }), CEILINGS).settings.adaptive.repair).toBe(true);
    expect(capSettings(settings({ candidates: 4, budget: { run: 1 } }), CEILINGS).lowered).not.toContainEqual(
      expect.stringContaining('oneMore'),
    );
  });

  test("limit a coder's budget to its run's", () => {
    const { settings: capped } = capSettings(settings({ budget: { run: 0.5, candidate: 1 } }), CEILINGS);
    expect(capped.budget).toEqual({ run: 0.5, candidate: 0.5 });
  });
});

describe('critics', () => {
  const problems = (critics: object) => {
    const parsed = parseSettings({ critics });
    return parsed.kind === 'invalid' ? parsed.problems.map(({ message }) => message) : [];
  };

  test('are three by default, all must approve, for 15% of the budget', () => {
    const parsed = parseSettings({});
    expect(parsed.kind === 'ok' && parsed.settings.critics).toEqual({
      agents: ['qa', 'product', 'security'],
      maxRounds: 5,
      focusAreas: [],
      assign: 'fixed',
      share: 0.15,
    });
  });

  test.each([
    [{ agents: [] }, /critics\.agents/],
    [{ agents: ['qa', 'qa'] }, /name each persona once/],
    [{ agents: ['QA Engineer'] }, /lower-case letters, digits and hyphens/],
    [{ share: 0.9 }, /critics\.share/],
    [{ maxRounds: 0 }, /critics\.maxRounds/],
    [{ maxRound: 3 }, /Did you mean `maxRounds`\?/],
  ])('are rejected as %j', (critics, why) => {
    expect(problems(critics)).toEqual([expect.stringMatching(why)]);
  });
});
