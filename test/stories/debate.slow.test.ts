import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONTENT, NO_ISSUES, SPEAKS } from '../world/critics.ts';
import { atTerminal } from '../world/terminal.ts';

const SPEC = `# Import

- A comma inside a quoted field belongs to the field.
- Files without quotes are read as before.
`;
const LINE = '- A line break inside a quoted field belongs to the field.';
const ISSUE = {
  title: 'Line breaks are not said',
  quote: 'A comma inside a quoted field belongs to the field.',
  severity: 'blocking',
  scenario: 'A note with a line break is imported, and the row is refused.',
  edit: LINE,
  needsHuman: false,
};
const SYNTHESIS = {
  verdicts: [{ issue: 'I1', verdict: 'accept', because: 'The task names it.' }],
  edits: [
    {
      issue: 'I1',
      find: '- Files without quotes',
      replace: `${LINE}\n- Files without quotes`,
    },
  ],
};

/** The QA engineer finds a fault at first; `hangs` tells whether critics leave the second round unanswered. */
const scripts = (hangs: () => boolean) => {
  const answers = [
    { holds: SPEAKS.synthesiser, structured: SYNTHESIS },
    {
      holds: /CHANGED/,
      get structured() {
        return hangs() ? undefined : NO_ISSUES;
      },
    },
    {
      holds: /critics of a spec[\s\S]*somebody could test the finished work[\s\S]*critique of the whole spec/,
      structured: { issues: [ISSUE], rechecked: [], approved: false },
    },
    ...CONTENT,
  ];
  const script = { turns: [{ kind: 'hang' }], afterwards: 'repeat', answers } as const;
  return { 'scripted-heron': script, 'scripted-otter': script };
};
const MODELS = ['--models', 'anthropic/scripted-heron,openai/scripted-otter'];

test('runoff debate improves a spec, continues after a kill within a round, and pays for nothing twice', async () => {
  let hangs = true;
  await atTerminal({ scripts: scripts(() => hangs) }, async (me) => {
    const file = join(me.repository, 'SPEC.md');
    await writeFile(file, SPEC);
    const { child, ended } = me.start('debate', 'SPEC.md', ...MODELS);
    await new Promise<void>((resolve) => {
      let said = '';
      child.stderr?.on('data', (data: Buffer) => {
        said += data.toString();
        if (/round 2 {2}qa +reads/.test(said)) resolve();
      });
    });
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({
      code: null,
      err: expect.stringMatching(/round 1 {2}no consensus yet/),
    });

    hangs = false;
    const again = await me.runoff('debate', 'SPEC.md', ...MODELS, '--out', 'refined.md', '--json');
    expect(again.err).toMatch(/round 2 {2}consensus/);
    expect(again.code).toBe(0);
    const debate = JSON.parse(again.out);
    expect(debate).toMatchObject({
      stop: 'consensus',
      rounds: [
        { roundNumber: 0, hasConsensus: false },
        { roundNumber: 1, hasConsensus: true },
      ],
      ledger: [{ id: 'I1', critic: 'qa', status: { kind: 'accepted' } }],
    });
    expect(debate.cost.paidNow).toBeGreaterThan(0);
    expect(debate.cost.paidNow).toBeLessThan(debate.cost.usd * 0.6);
    expect(await readFile(join(me.repository, 'refined.md'), 'utf8')).toContain(LINE);

    const whole = await me.pipe(SPEC, 'debate', ...MODELS);
    expect(whole).toMatchObject({
      code: 0,
      out: expect.stringMatching(/consensus[\s\S]*of which \$0\.00 in this call/),
    });
    expect(whole.out).toMatch(/## What changed\n\n```diff[\s\S]*\+- A line break inside/);
    expect(whole.out).toContain('I1 (blocking, qa) accepted: Line breaks are not said');
    expect(whole.out).toContain('Given the line a,"b,c": two fields');

    expect(await me.pipe('', 'debate')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/the spec is empty/),
    });
    expect(await me.runoff('debate', 'SPEC.md', ...MODELS, '--personas', 'secuirty')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/no persona "secuirty".*Did you mean security\?/),
    });
  });
});

const REJECTED = {
  verdicts: [{ issue: 'I1', verdict: 'reject', because: 'RFC 4180 says it.' }],
  edits: [],
};

/** What is said depends on the first words of the spec. */
const voices = [
  { holds: SPEAKS.synthesiser, structured: REJECTED },
  {
    holds: /REJECTED[\s\S]*I1 \(blocking\)/,
    structured: {
      issues: [],
      rechecked: [{ issue: 'I1', stands: true, because: 'Nobody reads it.' }],
      approved: false,
    },
  },
  {
    holds: /(?=[\s\S]*somebody do who should not)(?=[\s\S]*Contested)(?=[\s\S]*critique of the whole spec)/,
    structured: { issues: [ISSUE], rechecked: [], approved: false },
  },
  ...CONTENT,
];

test('runoff debate handles agreement in one challenged round, a dissenter, a failed critic, and no budget', async () => {
  const script = { turns: [{ kind: 'status', status: 404 }], answers: voices } as const;
  const scripts = { 'scripted-heron': script, 'scripted-otter': script };
  await atTerminal({ scripts }, async (me) => {
    const debate = async (title: string, ...flags: readonly string[]) => {
      const { code, out, err } = await me.pipe(`${title}\n${SPEC}`, 'debate', '--json', ...flags);
      return {
        code,
        err,
        ...(JSON.parse(out) as { stop: string; rounds: { critiques: object[] }[]; questions: object[] }),
      };
    };
    const agreed = await debate('Clear', ...MODELS);
    expect(agreed).toMatchObject({ code: 0, stop: 'consensus', acceptance: [{}, {}, {}] });
    expect(agreed.rounds).toHaveLength(1);
    expect(agreed.err).toMatch(/security +approves, challenged, 0 issues/);

    const contested = await debate('Contested', ...MODELS);
    expect(contested).toMatchObject({ code: 3, stop: 'repeated', questions: [{ severity: 'blocking' }] });
    expect(contested.rounds).toHaveLength(3);

    const failing = await debate(
      'Clear',
      '--models',
      'anthropic/scripted-heron,openai/scripted-mole',
      '--rounds',
      '1',
    );
    expect(failing).toMatchObject({ code: 3, stop: 'rounds' });
    expect(failing.rounds[0]?.critiques[1]).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(/404/),
    });

    const poor = await debate('Clear', ...MODELS, '--fresh', '--budget', '0.0001');
    expect(poor).toMatchObject({ code: 3, stop: 'budget' });
  });
});

test('runoff debate repeats a debate that failed with new answers, and keeps the line ends of its file', async () => {
  let useless = true;
  const answers = [
    {
      holds: SPEAKS.synthesiser,
      get structured() {
        return useless ? { words: 'I would rather not.' } : SYNTHESIS;
      },
    },
    { holds: /CHANGED/, structured: NO_ISSUES },
    {
      holds: /(?=[\s\S]*somebody could test the finished work)(?=[\s\S]*critique of the whole spec)/,
      structured: { issues: [ISSUE], rechecked: [], approved: false },
    },
    ...CONTENT,
  ];
  const script = { turns: [{ kind: 'status', status: 404 }], answers } as const;
  await atTerminal({ scripts: { 'scripted-heron': script, 'scripted-otter': script } }, async (me) => {
    await writeFile(join(me.repository, 'SPEC.md'), SPEC.replaceAll('\n', '\r\n'));
    const command = ['debate', 'SPEC.md', ...MODELS, '--out', 'refined.md', '--json'];
    const failed = await me.runoff(...command);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.out)).toMatchObject({ stop: 'failed', rounds: [{}, {}] });
    useless = false;
    const again = await me.runoff(...command);
    expect(again.code).toBe(0);
    const { stop, cost } = JSON.parse(again.out);
    expect(stop).toBe('consensus');
    expect(cost.paidNow).toBeGreaterThan(0);
    const refined = await readFile(join(me.repository, 'refined.md'), 'utf8');
    expect(refined).toContain(`\r\n${LINE}\r\n- Files without quotes`);
    expect(refined.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });
});

test('runoff debate --fresh does not say that it can be resumed', async () => {
  await atTerminal({ scripts: scripts(() => true) }, async (me) => {
    await writeFile(join(me.repository, 'SPEC.md'), SPEC);
    const { child, ended } = me.start('debate', 'SPEC.md', ...MODELS, '--fresh');
    await new Promise<void>((resolve) => {
      child.stderr?.once('data', () => resolve());
    });
    child.kill('SIGINT');
    expect(await ended).toMatchObject({
      code: 130,
      err: expect.stringMatching(
        /Stopped\. A debate with --fresh cannot be resumed: the same command starts over\./,
      ),
    });
  });
});
