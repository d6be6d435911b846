import { chosenOf, pickable } from '../../core/ranking/index.ts';
import { branchMerge, branchOf, type RunView, shortSha, visibleCode } from '../../core/reports/index.ts';
import { MAX_ALTERNATIVES } from '../../core/settings/index.ts';
import type { Exposure } from '../../runs/index.ts';
import { printable } from './terminal.ts';

/** Quotes a text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  const safe = visibleCode(text);
  return /^[\w./@%+=:,-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}

/** `git`, with the path of the repository unless it is the reader's current folder. */
function git(view: RunView, cwd: string | undefined): string {
  if (view.origin.kind === 'github' || view.origin.path === cwd) return 'git';
  return `git -C ${shellWord(view.origin.path)}`;
}

/** The command that takes over a branch of a local run, for a shell in the folder `cwd`. */
export const shellMerge = (view: RunView, branch: string, cwd?: string): string =>
  branchMerge(view, shellWord(branch), git(view, cwd));

/** The command that merges the chosen candidate; null if there is none, or if there is a pull request for it. */
export function mergeCommand(view: RunView, cwd?: string): string | null {
  const pick = chosenOf(view);
  if (view.origin.kind !== 'local' || pick === null) return null;
  const branch = branchOf(view, pick);
  return branch === null ? null : shellMerge(view, branch, cwd);
}

/** Useful commands after the run has ended, each with its description. */
export function nextCommands(view: RunView, cwd?: string): readonly (readonly [string, string])[] {
  const pick = chosenOf(view);
  const winner = pick === null ? null : branchOf(view, pick);
  const base = view.base ? shortSha(view.base.sha) : 'HEAD';
  const call = git(view, cwd);
  if (view.origin.kind === 'github') {
    if (winner === null) return [];
    return [
      [
        `${call} fetch origin ${shellWord(winner)} && ${call} diff ${base}...FETCH_HEAD`,
        'show the change in your clone',
      ],
    ];
  }
  const merge = mergeCommand(view, cwd);
  const all = `'runoff/${view.id}/*'`;
  return [
    ...(winner ? [[`${call} diff ${base}...${shellWord(winner)}`, 'show the chosen change'] as const] : []),
    ...(merge
      ? [[merge, view.base?.uncommitted ? 'apply it to your uncommitted changes' : 'merge it'] as const]
      : []),
    ...(Object.keys(view.outcome?.branches ?? {}).length > 0
      ? [[`${call} branch --list ${all}`, 'list the branches of all candidates'] as const]
      : []),
    ...candidateCommands(view),
  ];
}

/** Commands that look at a candidate and pick another one; empty if none can be picked. */
function candidateCommands(view: RunView): readonly (readonly [string, string])[] {
  const letters = pickable(view);
  const other = letters.find((alias) => alias !== chosenOf(view)) ?? letters[0];
  if (other === undefined) return [];
  return [
    [`runoff show ${view.id} ${other}`, `show the diff of ${other}`],
    [`runoff explain ${view.id} ${other}`, `everything known about ${other}`],
    [`runoff pick ${view.id}`, 'choose a candidate yourself, or none'],
  ];
}

/** Consent text: risks of running a repository's checks without the full sandbox. */
export function trustText(repository: string, exposure: Exposure): string {
  const { setup, build, types, test, hosts, backend, others, weaker } = exposure;
  const commands = Object.entries({ setup, build, types, test }).flatMap(([name, command]) =>
    command ? commandLines(name, command) : [],
  );
  return [
    `The checks of ${printable(repository)} run with more access to this machine than the full sandbox allows:`,
    '',
    ...commands,
    '',
    ...(others === 'none'
      ? []
      : [
          `If they fail on the base commit, Runoff tries others with the same access, at most ${MAX_ALTERNATIVES}: changed options, and commands of its CI workflow, development container and Dockerfile.${others === 'suggested' ? ` After that, it asks a model for commands, at most twice.` : ''} Commands that the settings name are never replaced.`,
          '',
        ]),
    ...(hosts.length > 0
      ? [`They can connect to these hosts: ${hosts.map((host) => printable(host)).join(', ')}`]
      : []),
    ...(weaker.length > 0 ? [`Sandbox: ${backend}. It does not protect against:`] : []),
    ...weaker.map((sentence) => `  - ${printable(sentence)}`),
    '',
  ].join('\n');
}

/** A command in full and line by line, as the shell reads it: people must see exactly what they agree to. */
const commandLines = (name: string, command: string): readonly string[] =>
  visibleCode(command.trimEnd())
    .split('\n')
    .map((line, at) => `  ${(at === 0 ? name : '').padEnd(5)}  ${line}`);
