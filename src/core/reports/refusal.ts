import type { RunId } from '../model/index.ts';
import { marker } from './marker.ts';
import { sentence } from './safe.ts';
import type { Report } from './view.ts';

/** Why a run may not start. An expected outcome, not a fault. */
export type Refusal =
  | { readonly kind: 'no-permission'; readonly login: string }
  | { readonly kind: 'not-an-issue' }
  | { readonly kind: 'issue-closed' }
  | { readonly kind: 'already-running'; readonly run: RunId }
  | { readonly kind: 'base-missing'; readonly ref: string }
  /** `problems`: each with the line and column it stands at. */
  | { readonly kind: 'settings-invalid'; readonly file: string; readonly problems: readonly string[] }
  | { readonly kind: 'no-test-command'; readonly file: string }
  | { readonly kind: 'nobody-approves'; readonly file: string };

/** What happened and what to do next: plain sentences with code in backticks, not yet fit for Markdown. */
export interface RefusalWords {
  readonly message: string;
  readonly advice: string;
}

/** Problems of a settings file that are named; the rest show once these are gone. */
const PROBLEMS_SHOWN = 5;

export function refusalWords(refusal: Refusal): RefusalWords {
  switch (refusal.kind) {
    case 'no-permission':
      return {
        message: `${quoted(refusal.login)} may not write to this repository, or GitHub did not say so.`,
        advice: 'Ask someone with write access to set the label: only they can start a run.',
      };
    case 'not-an-issue':
      return {
        message: 'The label is on a pull request; a run starts from an issue.',
        advice: 'Open an issue that says what is to be done, and set the label there.',
      };
    case 'issue-closed':
      return {
        message: 'The issue is closed.',
        advice: 'Reopen it, then remove the label and set it again.',
      };
    case 'already-running':
      return {
        message: `The run ${quoted(refusal.run)} is at work on this issue.`,
        advice: 'Wait for it to end. To start afresh, remove the label, which cancels it, and set it again.',
      };
    case 'base-missing':
      return {
        message: `There is no branch, tag or commit named ${quoted(refusal.ref)} to start from.`,
        advice: 'Name one that exists, or push it first, and start the run again.',
      };
    case 'settings-invalid':
      return {
        message: `${quoted(refusal.file)} cannot be used: ${listed(refusal.problems)}`,
        advice: 'Correct the file on the default branch and start the run again.',
      };
    case 'no-test-command':
      return {
        message: 'No test command was found: Runoff decides by what runs.',
        advice: `Set \`checks.test\` in ${quoted(refusal.file)}, for example \`test: npm test\`, and start the run again.`,
      };
    case 'nobody-approves':
      return {
        message: `${quoted(refusal.file)} wants the plan approved (\`approval: plan\`), and nobody is asked here.`,
        advice:
          'Run it at a terminal, without `--no-ask` and `--json`, and approve the plan with `runoff approve`; or set `approval: never`.',
      };
  }
}

const quoted = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

function listed(problems: readonly string[]): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map((problem) => problem.replace(/\.?\s*$/, ''));
  const more = problems.length - shown.length;
  return `${shown.join('; ') || 'it is not a settings file'}${more > 0 ? `; and ${more} more` : ''}.`;
}

/** The comment on an issue whose run was refused. */
export function refusalComment(run: RunId, refusal: Refusal): Report {
  const { message, advice } = refusalWords(refusal);
  const first = marker('refusal', run);
  const body = `${first}\n\n**No run was started.** ${sentence(message, 1_500)}\n\n**Next:** ${sentence(advice, 600)}\n`;
  return { marker: first, body };
}
