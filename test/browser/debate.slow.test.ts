import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunView } from '../../src/core/reports/index.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import { CONTENT, SPEAKS } from '../world/critics.ts';
import { type DemoApp, openDemoApp, PERSON_PICKS } from '../world/demo-app.ts';
import { inChromium, type Site, signIn, type Visitor, visiting } from './chromium.ts';
import { accessFaults } from './inspect.ts';

/** For a stage of a run on a busy machine. */
const PATIENCE_MS = 240_000;

const LINE = 'A file that ends within quotes is refused, with the number of its line.';
const QUOTE = 'A comma inside a quoted field belongs to the field.';
const ISSUE = {
  title: 'The end of a file is not said',
  quote: QUOTE,
  severity: 'blocking',
  edit: LINE,
  scenario: 'A file ends within quotes, and its last row is lost.',
  needsHuman: false,
};
/** One critic misses a line in the brief, the synthesiser adds it, and then all approve. */
const DEBATING = [
  {
    holds: SPEAKS.synthesiser,
    structured: {
      verdicts: [{ issue: 'I1', verdict: 'accept', because: 'The task leaves it open.' }],
      edits: [{ issue: 'I1', find: `- ${QUOTE}`, replace: `- ${QUOTE}\n- ${LINE}` }],
    },
  },
  { holds: /critics of a spec[\s\S]*CHANGED/, structured: { issues: [], rechecked: [], approved: true } },
  {
    holds: /critics of a spec[\s\S]*somebody could test the finished work[\s\S]*critique of the whole spec/,
    structured: { issues: [ISSUE], rechecked: [], approved: false },
  },
  ...CONTENT,
];
const heron = SCRIPTS['scripted-heron'];
const planning = { ...heron, answers: [...DEBATING, ...heron.answers] };

inChromium('the spec of a run', (browser) => {
  let opened: Awaited<ReturnType<typeof openDemoApp>>;
  let demo: DemoApp;
  let site: Site;
  let issue: number;
  /** The run of the label, which ended before anything was debated. */
  let cancelled: RunView;
  beforeAll(async () => {
    opened = await openDemoApp({
      settings: PERSON_PICKS,
      scripts: {
        ...SCRIPTS,
        'scripted-heron': planning,
        'scripted-otter': { ...SCRIPTS['scripted-otter'], answers: planning.answers },
        // What keys stand for where nobody names a model.
        'claude-sonnet-5': { ...planning, turns: [] },
      },
    });
    ({ demo } = opened);
    site = { origin: demo.environment.app.url, github: demo.environment.github.url };
    issue = await demo.label();
    await demo.run(issue, ({ state }) => state !== 'queued');
    await demo.environment.github.as(MAINTAINER).comment(REPOSITORY, issue, '/auto-dev cancel');
    cancelled = await demo.run(issue);
    expect(cancelled.state).toBe('cancelled');
  });
  afterAll(() => opened?.close());

  const debated = (ready: (view: RunView) => boolean): Promise<RunView> =>
    demo.run(issue, (view) => view.id !== cancelled.id && ready(view));
  const waits = ({ state }: RunView): boolean => state === 'awaiting_approval';
  /** Opens the step that says what happens, and confirms it. */
  const confirm = async ({ page }: Visitor, label: string): Promise<void> => {
    await page.locator('summary', { hasText: label }).click();
    await page.getByRole('button', { name: label, exact: true }).click();
  };

  test('is debated by a button of an ended run, and its page follows the rounds', () =>
    visiting(browser(), site, {}, async (visitor) => {
      const { page, go } = visitor;
      await signIn(visitor, site, MAINTAINER, `/runs/${cancelled.id}`);
      await confirm(visitor, 'Debate the issue');
      await page.getByText('Started a run').waitFor({ timeout: PATIENCE_MS });
      const { id } = await debated(() => true);
      await go(`/runs/${id}/debate`);
      // Nothing is loaded again by hand from here on.
      await page.getByRole('heading', { name: 'Round 2: consensus' }).waitFor({ timeout: PATIENCE_MS });
      await page.locator('summary', { hasText: 'Use the refined text' }).waitFor({ timeout: PATIENCE_MS });
      expect(await page.innerText('#brief-and-debate')).toContain(LINE);
      expect(await accessFaults(page)).toEqual([]);
    }));

  test('is debated again while it waits, and used, without scripts', () =>
    visiting(browser(), site, { javaScriptEnabled: false }, async (visitor) => {
      const { page, go } = visitor;
      const { id } = await debated(waits);
      await signIn(visitor, site, MAINTAINER, `/runs/${id}/debate`);
      await confirm(visitor, 'Debate the plan again');
      await page.waitForURL(/\/debate\?outcome=/);
      await debated((view) => waits(view) && view.dialogue?.debatesHeld === 1);

      await go(`/runs/${id}/debate`);
      expect(await page.innerText('main')).toContain(`${MAINTAINER} asked for a debate of the plan.`);
      await confirm(visitor, 'Use the refined text');
      await page.waitForURL(/\/debate\?outcome=/);
      const { brief } = await debated((view) => !waits(view) && view.state !== 'admitted');
      expect(brief?.definitionOfDone).toContain(LINE);
    }));
});
