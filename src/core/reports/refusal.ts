import type { PullWork, RunId } from '../model/index.ts';
import { counted, money } from './format.ts';
import { marker } from './marker.ts';
import { sentence } from './safe.ts';
import type { Report } from './view.ts';

/** Why a run may not start. An expected outcome, not a fault. */
export type Refusal =
  /** `mayLabel`: may set labels, which is less than writing. */
  | { readonly kind: 'no-permission'; readonly login: string; readonly mayLabel?: boolean }
  /** An App set the label, in the name of this person. */
  | { readonly kind: 'set-by-app'; readonly login: string }
  /** The label that asked for the run was taken off again before the run began. */
  | { readonly kind: 'label-gone' }
  | { readonly kind: 'not-an-issue' }
  | { readonly kind: 'issue-closed' }
  | { readonly kind: 'not-a-pull'; readonly number: number }
  | { readonly kind: 'pull-closed' }
  /** The run that is carried on was on another commit of this branch. */
  | { readonly kind: 'branch-moved'; readonly branch: string }
  | { readonly kind: 'from-a-fork' }
  | { readonly kind: 'nothing-to-do'; readonly work: PullWork }
  | { readonly kind: 'archived' }
  | { readonly kind: 'repository-empty'; readonly branch: string }
  | { readonly kind: 'cap-reached'; readonly cap: DayCap; readonly most: number; readonly login: string }
  | { readonly kind: 'already-running'; readonly run: RunId }
  | { readonly kind: 'base-missing'; readonly ref: string }
  /** `problems`: each with the line and column it stands at. */
  | { readonly kind: 'settings-invalid'; readonly file: string; readonly problems: readonly string[] }
  | { readonly kind: 'no-test-command'; readonly file: string }
  | { readonly kind: 'nobody-approves'; readonly file: string };

/** What is counted in a day (UTC): runs of whom, or dollars of the person who asks. */
export type DayCap =
  | 'runs-repository'
  | 'runs-user'
  | 'runs-installation'
  | 'budget-user'
  | 'budget-installation';

/** What happened and what to do next: plain sentences with code in backticks, not yet fit for Markdown. */
export interface RefusalWords {
  readonly message: string;
  readonly advice: string;
}

/** Problems of a settings file that are named; the rest show once these are gone. */
const PROBLEMS_SHOWN = 5;

export function refusalWords(refusal: Refusal, asked: AskedBy = 'label'): RefusalWords {
  const { message, advice } = wordsOf(refusal);
  return { message, advice: asked === 'label' ? advice : advice.replace(AGAIN, 'give the command again') };
}

/** What started the run that is refused, and so what starts it again. */
export type AskedBy = 'label' | 'command';
const AGAIN = 'set the label again';

function wordsOf(refusal: Refusal): RefusalWords {
  switch (refusal.kind) {
    case 'no-permission':
    case 'set-by-app':
    case 'archived':
    case 'repository-empty':
    case 'cap-reached':
      return ofTheRepository(refusal);
    case 'label-gone':
    case 'not-an-issue':
    case 'issue-closed':
    case 'already-running':
      return ofTheIssue(refusal);
    case 'not-a-pull':
    case 'pull-closed':
    case 'branch-moved':
    case 'from-a-fork':
    case 'nothing-to-do':
      return ofThePull(refusal);
    case 'base-missing':
    case 'settings-invalid':
    case 'no-test-command':
    case 'nobody-approves':
      return ofTheFiles(refusal);
  }
}

type Of<K extends Refusal['kind']> = Extract<Refusal, { readonly kind: K }>;

function ofTheRepository(
  refusal: Of<'no-permission' | 'set-by-app' | 'archived' | 'repository-empty' | 'cap-reached'>,
): RefusalWords {
  switch (refusal.kind) {
    case 'no-permission':
      return {
        message: refusal.mayLabel
          ? `${quoted(refusal.login)} may set labels here, but to start a run takes the right to write to this repository.`
          : `${quoted(refusal.login)} may not write to this repository, or GitHub did not say so.`,
        advice: 'Ask someone with write access to set the label: only they can start a run.',
      };
    case 'set-by-app':
      return {
        message: `The label was set by an App in the name of ${quoted(refusal.login)}; only a person can start a run.`,
        advice: 'Set the label again on GitHub itself, or comment `/auto-dev run` there.',
      };
    case 'archived':
      return {
        message: 'The repository is archived: nobody can write to it.',
        advice: `Unarchive it, and ${AGAIN}.`,
      };
    case 'repository-empty':
      return {
        message: `The repository has no commit on its default branch ${quoted(refusal.branch)} yet, so there is nothing to start from.`,
        advice: `Push a first commit, then ${AGAIN}.`,
      };
    case 'cap-reached':
      return {
        message: `${reached(refusal)} today (UTC), the most that this server allows.`,
        advice: `It starts anew at midnight UTC; ${AGAIN} then. The operator of this server can raise the cap with \`${CAP_VARIABLES[refusal.cap]}\`.`,
      };
  }
}

const CAP_VARIABLES: Readonly<Record<DayCap, string>> = {
  'runs-repository': 'MAX_RUNS_REPOSITORY_DAY',
  'runs-user': 'MAX_RUNS_USER_DAY',
  'runs-installation': 'MAX_RUNS_INSTALLATION_DAY',
  'budget-user': 'MAX_BUDGET_USER_DAY',
  'budget-installation': 'MAX_BUDGET_INSTALLATION_DAY',
};

function reached({ cap, most, login }: Of<'cap-reached'>): string {
  const runs = counted(most, 'run');
  switch (cap) {
    case 'runs-repository':
      return `This repository has had ${runs}`;
    case 'runs-user':
      return `${quoted(login)} has started ${runs}`;
    case 'runs-installation':
      return `The repositories of this installation have had ${runs}`;
    case 'budget-user':
      return `The runs of ${quoted(login)} have used up ${money(most)}`;
    case 'budget-installation':
      return `The repositories of this installation have used up ${money(most)}`;
  }
}

function ofTheIssue(
  refusal: Of<'label-gone' | 'not-an-issue' | 'issue-closed' | 'already-running'>,
): RefusalWords {
  switch (refusal.kind) {
    case 'label-gone':
      return {
        message: 'The label was taken off again before the run began.',
        advice: 'Set the label again to start one.',
      };
    case 'not-an-issue':
      return {
        message: 'The label is on a pull request; a run starts from an issue.',
        advice:
          'Open an issue that says what is to be done, and set the label there. On a pull request, comment `/auto-dev review` or `/auto-dev fix`.',
      };
    case 'issue-closed':
      return { message: 'The issue is closed.', advice: `Reopen it, then ${AGAIN}.` };
    case 'already-running':
      return {
        message: `The run ${quoted(refusal.run)} is at work here.`,
        advice: 'Wait for it to end. To start afresh, cancel it with `/auto-dev cancel`, then ask again.',
      };
  }
}

function ofThePull(
  refusal: Of<'not-a-pull' | 'pull-closed' | 'branch-moved' | 'from-a-fork' | 'nothing-to-do'>,
): RefusalWords {
  switch (refusal.kind) {
    case 'not-a-pull':
      return {
        message: `#${refusal.number} is no pull request.`,
        advice: 'Comment on the pull request that is to be worked on. For an issue, comment `/auto-dev run`.',
      };
    case 'pull-closed':
      return {
        message: 'The pull request is not open any more.',
        advice: 'Reopen it, then give the command again.',
      };
    case 'branch-moved':
      return {
        message: `The branch ${quoted(refusal.branch)} has moved since the run that this one carries on.`,
        advice: 'Comment `/auto-dev retry` to do all of it anew.',
      };
    case 'from-a-fork':
      return {
        message:
          "The code of this pull request is in another repository, a fork or one that is gone; runs work on this repository's own branches only.",
        advice:
          'Push its branch to this repository, open a pull request from there, and give the command on it.',
      };
    case 'nothing-to-do':
      return refusal.work === 'review'
        ? {
            message: 'No review of this pull request by anyone with write access says anything.',
            advice: 'Write a review, or a comment on a line, then comment `/auto-dev review` again.',
          }
        : {
            message:
              'No check of the newest commit has failed, and no review by anyone with write access says anything.',
            advice: 'Wait for the checks to end, or write a review, then comment `/auto-dev fix` again.',
          };
  }
}

function ofTheFiles(
  refusal: Of<'base-missing' | 'settings-invalid' | 'no-test-command' | 'nobody-approves'>,
): RefusalWords {
  switch (refusal.kind) {
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
export function refusalComment(run: RunId, refusal: Refusal, asked: AskedBy = 'label'): Report {
  const { message, advice } = refusalWords(refusal, asked);
  const first = marker('refusal', run);
  const body = `${first}\n\n**No run was started.** ${sentence(message, 1_500)}\n\n**Next:** ${sentence(advice, 600)}\n`;
  return { marker: first, body };
}
