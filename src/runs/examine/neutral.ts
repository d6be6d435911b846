import { asFault } from '../../core/model/index.ts';
import {
  type Accepted,
  accept,
  customsOf,
  hasSurface,
  importedFiles,
  looksLikeTest,
  MOST_TESTS,
  placesFor,
  surfaceOf,
  type TestCustom,
  type WrittenTest,
  WrittenTests,
} from '../../core/neutral/index.ts';
import { roleOf } from '../../core/patches/index.ts';
import { block } from '../../core/prompts/index.ts';
import { steadyNonce } from '../steady-nonce.ts';
import type { Bench } from './execute.ts';
import { ask, type Desk, type Heard, kept, taskBlocks, wantedTexts } from './writer.ts';

/** The most of a run's budget that is spent on neutral tests. Our default, tune on dev data. */
const SHARE = 0.1;
/** Files of the base whose declarations are shown. Our default. */
const MOST_FILES = 25;
const MOST_SURFACE = 20_000;
const MOST_SAMPLE = 12_000;

/** What a writer handed in. Plain JSON. */
export interface Written extends Accepted {
  /** One sentence for people, of what the writer could not do; absent when there is nothing to say. */
  readonly note?: string;
  /** `provider/model` of the writer; absent where none answered. */
  readonly model?: string;
}

/** What a writer is shown of the base, and where its tests will stand. */
export interface Setting {
  readonly custom: TestCustom;
  readonly sample: string;
  readonly surface: string;
}

/**
 * Asks a writer for tests of the task. It sees the issue, the brief, what the base declares and one of its test files: no
 * candidate, so it can be asked as soon as there is a brief. That nothing was written is a value, never a fault.
 */
export async function writeNeutralTests(bench: Bench, desk: Desk, instructions: string): Promise<Written> {
  const setting = await settingOf(bench, desk);
  if (setting === null) return nothing('The base has no test file that shows how tests are written here.');
  const key = JSON.stringify(['neutral-tests', desk.task.runId]);
  const heard = await kept(desk, key, async (): Promise<Heard<Written>> => {
    const places = placesFor(setting.custom, bench.baseFiles, 'neutral', MOST_TESTS);
    const nonce = await steadyNonce(desk, key);
    const answer = await ask(desk, {
      spender: 'writer',
      share: SHARE,
      instructions,
      prompt: [
        ...taskBlocks(desk, nonce),
        ...settingBlocks(setting, nonce),
        `The tests will stand at these paths, in this order:\n${places.join('\n')}`,
        'Write the tests.',
      ].join('\n\n'),
      schema: WrittenTests,
    });
    if (answer.kind === 'nothing') return answer;
    const { tests, note } = answer.value;
    const accepted = await acceptOn(bench, desk, { origin: 'writer', places, written: tests });
    const value = { ...accepted, model: answer.model, ...(note.trim() === '' ? {} : { note }) };
    return { ...answer, value };
  });
  return heard.kind === 'answer' ? heard.value : nothing(`No neutral tests were written: ${heard.why}`);
}

const nothing = (note: string): Written => ({ tests: [], left: [], note });

/** Holds written tests against the task and the base. */
export async function acceptOn(
  bench: Bench,
  desk: Desk,
  given: {
    readonly origin: 'writer' | 'distinguishing';
    readonly places: readonly string[];
    readonly written: readonly WrittenTest[];
  },
): Promise<Accepted> {
  const { origin, places, written } = given;
  const { baseFiles } = bench;
  const imported: Record<string, string> = {};
  for (const path of importedFiles(written, places, baseFiles)) {
    const text = await textOf(bench, path);
    if (text !== null) imported[path] = text;
  }
  return accept(written, { origin, places, wanted: wantedTexts(desk), baseFiles, imported });
}

/** Null where the base shows no custom of naming tests, or none under which ours would count as a test. */
export async function settingOf(bench: Bench, { brief }: Pick<Desk, 'brief'>): Promise<Setting | null> {
  const near = [...brief.files, ...bench.plan.command.split(/[\s'"=]+/)];
  for (const custom of customsOf(bench.baseFiles, near)) {
    const sample = await textOf(bench, custom.sample);
    if (sample === null || !looksLikeTest(sample)) continue;
    if (placesFor(custom, [], 'neutral', 1).length > 0)
      return { custom, sample, surface: await surface(bench, brief.files) };
  }
  return null;
}

export const settingBlocks = ({ custom, sample, surface }: Setting, nonce: string): readonly string[] => [
  ...(surface === '' ? [] : [block('DECLARATIONS', nonce, surface)]),
  block('EXAMPLE', nonce, `${custom.sample}\n\n${sample.slice(0, MOST_SAMPLE)}`),
];

/** Declarations of the files that will probably change, then of those beside them. */
async function surface(bench: Bench, near: readonly string[]): Promise<string> {
  const folders = new Set(near.map((path) => path.slice(0, path.lastIndexOf('/') + 1)));
  const known = bench.baseFiles.filter((path) => roleOf(path) === 'production' && hasSurface(path));
  const nearby = (path: string) =>
    near.includes(path) ? 0 : folders.has(path.slice(0, path.lastIndexOf('/') + 1)) ? 1 : 2;
  const chosen = known.toSorted((a, b) => nearby(a) - nearby(b)).slice(0, MOST_FILES);
  const parts: string[] = [];
  for (const path of chosen) {
    const lines = surfaceOf(path, (await textOf(bench, path)) ?? '');
    if (lines.length > 0) parts.push(`${path}\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }
  return parts.join('\n').slice(0, MOST_SURFACE);
}

/** Null also for a file that is too big to be read: it is only left out of what is shown. */
async function textOf({ world, source, task }: Bench, path: string): Promise<string | null> {
  try {
    return await world.workspaces.readFile(source, task.base.sha, path);
  } catch (thrown) {
    if (asFault(thrown).code === 'SETTINGS_INVALID') return null;
    throw thrown;
  }
}
