import type { PullWork, RunId } from '../model/index.ts';
import { quotedCode } from './commands.ts';
import { counted, money } from './format.ts';
import { inertSentence, marker } from './markdown.ts';
import type { Report } from './view.ts';

/** Why a run may not start. An expected outcome, not a fault. */
export type Refusal =
  /** `mayLabel`: has triage permission, which allows labels but not writing. */
  | { readonly kind: 'no-permission'; readonly login: string; readonly mayLabel?: boolean }
  /** An App set the label on behalf of this person. */
  | { readonly kind: 'set-by-app'; readonly login: string }
  /** The label was removed before the run began. */
  | { readonly kind: 'label-gone' }
  | { readonly kind: 'not-an-issue' }
  /** `number`: of the issue, for a reader in another conversation. */
  | { readonly kind: 'issue-closed'; readonly number?: number }
  /** The conversation of the issue or pull request is locked: GitHub lets an App write no comment there. */
  | { readonly kind: 'locked' }
  | { readonly kind: 'not-a-pull'; readonly number: number }
  | { readonly kind: 'pull-closed' }
  /** The continued run was on another commit of this branch. */
  | { readonly kind: 'branch-moved'; readonly branch: string }
  | { readonly kind: 'from-a-fork' }
  | { readonly kind: 'nothing-to-do'; readonly work: PullWork }
  | { readonly kind: 'archived' }
  | { readonly kind: 'repository-empty'; readonly branch: string }
  | { readonly kind: 'cap-reached'; readonly cap: DayCap; readonly most: number; readonly login: string }
  | { readonly kind: 'already-running'; readonly run: RunId }
  | { readonly kind: 'base-missing'; readonly ref: string }
  /** `problems`: each with its line and column. */
  | { readonly kind: 'settings-invalid'; readonly file: string; readonly problems: readonly string[] }
  | { readonly kind: 'nobody-approves'; readonly file: string };

/** What is limited per day (UTC): the number of someone's runs, or the requester's dollars. */
export type DayCap =
  | 'runs-repository'
  | 'runs-user'
  | 'runs-installation'
  | 'budget-user'
  | 'budget-installation';

/** What happened and what to do next: plain sentences with code in backticks, not yet escaped for Markdown. */
interface RefusalText {
  readonly message: string;
  readonly advice: string;
}

/** Maximum problems of a settings file that are listed; others appear once these are fixed. */
const MAX_PROBLEMS_SHOWN = 5;

export function refusalText(refusal: Refusal, asked: RunTrigger = 'label'): RefusalText {
  const { message, advice } = refusalParts(refusal);
  if (asked === 'label') return { message, advice };
  const again = advice.replace(ADD_LABEL, 'give the command');
  return { message, advice: asked === 'command' ? again : `${again} ${LABEL_REPLACED}` };
}

/** What triggered the refused run and can trigger it again; `both`: a command that replaced the run of a label. */
export type RunTrigger = 'label' | 'command' | 'both';
const LABEL_REPLACED =
  'The command had replaced the run that waited for the label `auto-dev`, so the label is removed: without the command, add it again.';
const ADD_LABEL = 'add the label';
const ADD_LABEL_AGAIN = `${ADD_LABEL} again`;

function refusalParts(refusal: Refusal): RefusalText {
  switch (refusal.kind) {
    case 'no-permission':
    case 'set-by-app':
    case 'archived':
    case 'repository-empty':
    case 'cap-reached':
      return repositoryRefusal(refusal);
    case 'label-gone':
    case 'not-an-issue':
    case 'issue-closed':
    case 'locked':
    case 'already-running':
      return issueRefusal(refusal);
    case 'not-a-pull':
    case 'pull-closed':
    case 'branch-moved':
    case 'from-a-fork':
    case 'nothing-to-do':
      return pullRefusal(refusal);
    case 'base-missing':
    case 'settings-invalid':
    case 'nobody-approves':
      return settingsRefusal(refusal);
  }
}

type Of<K extends Refusal['kind']> = Extract<Refusal, { readonly kind: K }>;

function repositoryRefusal(
  refusal: Of<'no-permission' | 'set-by-app' | 'archived' | 'repository-empty' | 'cap-reached'>,
): RefusalText {
  switch (refusal.kind) {
    case 'no-permission':
      return {
        message: refusal.mayLabel
          ? `${quotedCode(refusal.login)} can add labels here, but starting a run requires write access to this repository.`
          : `${quotedCode(refusal.login)} has no write access to this repository, or GitHub did not confirm it.`,
        advice: 'Ask someone with write access to add the label.',
      };
    case 'set-by-app':
      return {
        message: `An App added the label on behalf of ${quotedCode(refusal.login)}; only a person can start a run.`,
        advice: 'Add the label again on GitHub itself, or comment `/auto-dev run` there.',
      };
    case 'archived':
      return {
        message: 'The repository is archived, so nobody can write to it.',
        advice: `Unarchive it, then ${ADD_LABEL_AGAIN}.`,
      };
    case 'repository-empty':
      return {
        message: `The repository has no commit on its default branch ${quotedCode(refusal.branch)} yet, so a run has nothing to start from.`,
        advice: `Push a first commit, then ${ADD_LABEL_AGAIN}.`,
      };
    case 'cap-reached':
      return {
        message: `${capReachedText(refusal)} today (UTC), the daily limit of this server.`,
        advice: `The limit resets at midnight UTC; ${ADD_LABEL_AGAIN} then. The operator of this server can raise it with \`${CAP_VARIABLES[refusal.cap]}\`.`,
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

function capReachedText({ cap, most, login }: Of<'cap-reached'>): string {
  const runs = counted(most, 'run');
  switch (cap) {
    case 'runs-repository':
      return `This repository has had ${runs}`;
    case 'runs-user':
      return `${quotedCode(login)} has started ${runs}`;
    case 'runs-installation':
      return `The repositories of this installation have had ${runs}`;
    case 'budget-user':
      return `The runs of ${quotedCode(login)} have spent ${money(most)}`;
    case 'budget-installation':
      return `The repositories of this installation have spent ${money(most)}`;
  }
}

function issueRefusal(
  refusal: Of<'label-gone' | 'not-an-issue' | 'issue-closed' | 'locked' | 'already-running'>,
): RefusalText {
  switch (refusal.kind) {
    case 'label-gone':
      return {
        message: 'The label was removed before the run started.',
        advice: 'Add the label again to start a run.',
      };
    case 'not-an-issue':
      return {
        message: 'The label is on a pull request, but runs start from issues.',
        advice:
          'Open an issue that describes the task and add the label there. On a pull request, comment `/auto-dev review` or `/auto-dev fix`.',
      };
    case 'issue-closed':
      return {
        message: `The issue ${refusal.number === undefined ? '' : `#${refusal.number} `}is closed.`,
        advice: `Reopen it, then ${ADD_LABEL_AGAIN}.`,
      };
    case 'locked':
      return {
        message: 'The conversation is locked, so Runoff could neither ask questions nor post a result.',
        advice: `Unlock it, then ${ADD_LABEL_AGAIN}.`,
      };
    case 'already-running':
      return {
        message: `Run ${quotedCode(refusal.run)} is already active here.`,
        advice: 'Wait for it to finish, or cancel it with `/auto-dev cancel` and try again.',
      };
  }
}

function pullRefusal(
  refusal: Of<'not-a-pull' | 'pull-closed' | 'branch-moved' | 'from-a-fork' | 'nothing-to-do'>,
): RefusalText {
  switch (refusal.kind) {
    case 'not-a-pull':
      return {
        message: `#${refusal.number} is not a pull request.`,
        advice: 'Comment on the pull request you want changed. For an issue, comment `/auto-dev run`.',
      };
    case 'pull-closed':
      return {
        message: 'The pull request is no longer open.',
        advice: `Reopen it, then ${ADD_LABEL_AGAIN}.`,
      };
    case 'branch-moved':
      return {
        message: `The branch ${quotedCode(refusal.branch)} has moved since the run that this one continues.`,
        advice: 'Comment `/auto-dev retry` to start over.',
      };
    case 'from-a-fork':
      return {
        message:
          'The code of this pull request is in a fork or in a deleted repository, but runs work only on branches of this repository.',
        advice: `Push its branch to this repository, open a pull request from it, and ${ADD_LABEL} there.`,
      };
    case 'nothing-to-do':
      return refusal.work === 'review'
        ? {
            message: 'This pull request has no review comments by people with write access.',
            advice: 'Write a review or comment on a line, then comment `/auto-dev review` again.',
          }
        : {
            message:
              'No check failed on the latest commit, and there are no review comments by people with write access.',
            advice: 'Wait for the checks to finish, or write a review, then comment `/auto-dev fix` again.',
          };
  }
}

function settingsRefusal(refusal: Of<'base-missing' | 'settings-invalid' | 'nobody-approves'>): RefusalText {
  switch (refusal.kind) {
    case 'base-missing':
      return {
        message: `There is no branch, tag or commit named ${quotedCode(refusal.ref)}.`,
        advice: 'Name an existing one, or push it first, then start the run again.',
      };
    case 'settings-invalid':
      return {
        message: `${quotedCode(refusal.file)} is invalid: ${problemList(refusal.problems)}`,
        advice: 'Correct the file on the default branch, then start the run again.',
      };
    case 'nobody-approves':
      return {
        message: `${quotedCode(refusal.file)} requires plan approval (\`approval: plan\`), but this run cannot ask anyone.`,
        advice:
          'Run it in a terminal without `--no-ask` and `--json` and approve the plan with `runoff approve`, or set `approval: never`.',
      };
  }
}

function problemList(problems: readonly string[]): string {
  const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).map((problem) => problem.trimEnd());
  const more = problems.length - shown.length;
  const sentences = [
    ...(shown.length > 0 ? shown : ['it is not a settings file']),
    ...(more > 0 ? [`And ${more} more`] : []),
  ];
  return sentences.map((text) => (/[.!?]$/.test(text) ? text : `${text}.`)).join(' ');
}

/** The comment on a label or command whose run was refused. */
export function refusalComment(run: RunId, refusal: Refusal, asked: RunTrigger = 'label'): Report {
  const { message, advice } = refusalText(refusal, asked);
  const first = marker('refusal', run);
  const body = `${first}\n\n**No run was started.** ${inertSentence(message, 1_500)}\n\n**Next:** ${inertSentence(advice, 600)}\n`;
  return { marker: first, body };
}
