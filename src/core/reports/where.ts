import { shortSha } from './format.ts';
import { code, prose, sentence } from './safe.ts';
import type { RunView, SandboxView } from './view.ts';

/** In the note of a candidate whose coder did not come to its own end. */
export const JUDGED_ALL_THE_SAME = 'what it had written is judged';
/** Of at most this many code points. */
const SENTENCE = 300;

const nothingHolds = (sandbox: SandboxView | undefined): boolean => sandbox?.backend === 'none';

/** How the candidates of a run were built and tested, in three words. */
export const testedWords = ({ sandbox }: RunView): string =>
  nothingHolds(sandbox) ? 'built and tested without a sandbox' : 'built and tested in sandboxes';

/** Where a patch was tested, for a commit message. */
export const testedWhere = ({ sandbox }: RunView): string =>
  nothingHolds(sandbox) ? 'without a sandbox' : 'in a sandbox';

/** What held the candidates back less than the default sandbox does; empty for the default. */
export function weakerLines({ sandbox }: RunView): readonly string[] {
  if (!sandbox || sandbox.weaker.length === 0) return [];
  const title = nothingHolds(sandbox) ? '**No sandbox.**' : '**Weaker sandbox.**';
  return sandbox.weaker.map((text) => `${title} ${sentence(text, SENTENCE)}`);
}

/** What has changed since the run began: the issue, the base branch; empty where nothing has, or where nobody looked. */
export function movedLines({ base, baseMovedTo, editedSince = false }: RunView): readonly string[] {
  const edited = editedSince
    ? ['**The issue was edited after the run began.** The candidates were asked for what it said before.']
    : [];
  if (!base || baseMovedTo === undefined || baseMovedTo === base.sha) return edited;
  return [
    ...edited,
    `**The base has moved.** ${code(base.ref)} is at ${code(shortSha(baseMovedTo))} now; the candidates were built and tested on ${code(shortSha(base.sha))}.`,
  ];
}

/** Facts for the evidence: where things were executed, and which versions of agents wrote the candidates. */
export function whereFacts(view: RunView): readonly string[] {
  const versions = view.candidates.flatMap(({ alias, coderVersion }) =>
    coderVersion ? [`${alias} ${code(coderVersion, 60)}`] : [],
  );
  return [
    ...(view.sandbox ? [`- Sandbox: ${code(`${view.sandbox.backend}: ${view.sandbox.detail}`, 160)}`] : []),
    ...endedEarly(view),
    ...(versions.length > 0 ? [`- Coders: ${versions.toSorted().join(', ')}`] : []),
  ];
}

/** Coders that did not come to their own end, though what they had written is judged. */
function endedEarly({ candidates }: RunView): readonly string[] {
  return candidates
    .filter(({ patch, note }) => patch !== undefined && note.includes(JUDGED_ALL_THE_SAME))
    .map(({ alias, note }) => `- Ended early: ${alias}, ${prose(note, SENTENCE)}`);
}
