import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonText, runJson } from '../../../src/cli/render/index.ts';
import { RunDocument, type RunView } from '../../../src/core/reports/index.ts';
import { hostile } from '../../core/reports/hostile.ts';
import { coding, local, nobody, published, RUN } from '../../core/reports/sample.ts';

/** The paths of all values in a type, such as `.checks.step.name`; a list and its items have one path. */
type Paths<T, Path extends string = ''> =
  Extract<T, object> extends infer U
    ? [U] extends [never]
      ? Path
      : [U] extends [readonly (infer Item)[]]
        ? Paths<Item, Path>
        : { [K in KeyOfAny<U> & string]: Paths<ValueAt<U, K>, `${Path}.${K}`> }[KeyOfAny<U> & string]
    : never;
type KeyOfAny<T> = T extends unknown ? keyof T : never;
type ValueAt<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;

/** What a document takes over from a view as it is. */
type Taken = 'base' | 'brief' | 'checks' | 'debate' | 'dialogue' | 'queue' | 'review' | 'sandbox' | 'trouble';
type InView = Paths<Pick<RunView, Taken>>;
type InDocument = Paths<Pick<RunDocument['run'], Taken>>;
// A field that the schema lacks, or that a view no longer has, does not compile: its path is not `never`.
const different: readonly (Exclude<InView, InDocument> | Exclude<InDocument, InView>)[] = [] as never[];

describe('the JSON document', () => {
  test('describes every field that it takes over from a view', () => {
    // The compiler checks it, above.
    const none: readonly never[] = different;
    expect(none).toEqual([]);
  });

  test.each([published, local, coding, nobody])(
    'has the fields of its schema, and no others (%o)',
    (view) => {
      const document = JSON.parse(JSON.stringify(runJson(view()))) as unknown;
      expect(RunDocument.safeParse(document)).toMatchObject({ success: true, data: document });
    },
  );

  test('of a run on GitHub has the pull request, the comments and the labels', () => {
    const pull = {
      number: 8,
      url: 'https://github.test/acme/lists/pull/8',
      draft: true,
      head: `auto-dev/7/${RUN}/B`,
      base: 'main',
      body: 'Fixes #7',
    };
    const comments = [{ id: 1, on: 7, body: 'status' }];
    const document = runJson(published(), {
      pull,
      comments,
      issueLabels: ['auto-dev'],
      timings: { overhead: 12 },
    });
    expect(document).toMatchObject({
      issue: { repository: 'acme/lists', number: 7, title: 'last() returns undefined' },
      run: {
        id: RUN,
        state: 'published',
        decision: { kind: 'winner', alias: 'B', confidence: 'likely', decidedBy: 'tests' },
      },
      merge: null,
      pull,
      comments,
      issueLabels: ['auto-dev'],
      timings: { overhead: 12 },
    });
    expect(document.run.stages[0]).toEqual({
      stage: 'admit',
      startedAt: 1_790_000_000_000,
      endedAt: 1_790_000_000_400,
      ms: 400,
    });
  });

  test('names its pull request without asking GitHub', () => {
    expect(runJson(published()).pull).toEqual({
      number: 8,
      url: 'https://github.test/acme/lists/pull/8',
      head: `auto-dev/7/${RUN}/B`,
      draft: null,
      base: null,
      body: null,
    });
  });

  test('has for each candidate the patch and every check', () => {
    const [, , C, D] = runJson(published()).run.candidates;
    expect(C).toMatchObject({
      alias: 'C',
      contestant: 'builtin × anthropic/model-3 (plain)',
      agent: 'builtin',
      model: 'anthropic/model-3',
      prompt: 'plain',
      state: 'examined',
      place: 2,
      survivor: true,
      patch: { files: 2, additions: 14, deletions: 3, sha256: '2'.repeat(64) },
      usd: 0.14,
      ms: 102_000,
    });
    expect(C?.checks.slice(-2)).toEqual([
      {
        name: 'base-tests',
        passed: true,
        detail: '412/412 passed, 0 broken, 0 fixed',
        exitCode: 0,
        ms: 8_100,
      },
      { name: 'peer-tests-of-B', passed: false, detail: '3/4 passed' },
    ]);
    expect(D?.checks.find((check) => !check.passed)).toEqual({
      name: 'untampered',
      passed: false,
      detail: 'It removes an assertion in `test/list.test.ts`, line 41.',
    });
  });

  test('of a local run has branches and the merge command instead', () => {
    expect(runJson(local())).toMatchObject({
      issue: null,
      pull: null,
      comments: [],
      issueLabels: [],
      branches: { A: `runoff/${RUN}/A`, B: `runoff/${RUN}/B` },
      merge: `git -C /home/ada/lists merge runoff/${RUN}/B`,
      timings: { total: 171_000, admit: 400, code: 125_500 },
    });
  });

  test('says null where there is nothing', () => {
    const { candidates, decision, trouble, stages } = runJson(coding()).run;
    expect(decision).toBeNull();
    expect(trouble).toBeNull();
    expect(stages.at(-1)).toMatchObject({ stage: 'code', endedAt: null, ms: null });
    expect(candidates[0]).toMatchObject({ checks: [], place: null, survivor: false });
    expect(runJson(nobody()).run.decision).toMatchObject({ kind: 'none', alias: null, confidence: null });
  });

  test('is safe to print and reads back as it was', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const printed = jsonText({ text });
        expect(printed).not.toMatch(
          /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u,
        );
        expect(JSON.parse(printed)).toEqual({ text });
      }),
      { numRuns: 300 },
    );
  });
});
