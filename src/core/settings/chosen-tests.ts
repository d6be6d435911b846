import { recognise } from './command-kinds.ts';
import { wordsOf } from './program-words.ts';

/** A command that runs all its tests, and the options of it that would have chosen some. */
interface WholeCommand {
  readonly command: string;
  readonly taken: readonly string[];
}

/** A quick look at a line: most commands choose nothing. */
const MAY_CHOOSE = /changed|affected|shard|picked|since|lastCommit|partition|--splits|\s-o\b/i;

/** Such options, with their values. */
const CHOICES =
  / --(?:(?:onlyChanged|lastCommit|changedFilesWithAncestor|affected|picked|uncommitted|untracked)(?:=\S+)?|(?:changed|only-changed|since)(?:=\S+| [^- ]\S*)?|(?:changedSince|shard|test-shard|partition)[= ]\S+|(?:splits|group|shard-id|num-shards)[= ]\d+)(?= |$)/g;
const CHOICES_OF_JEST = / -o(?= |$)/g;
/** The commits that `nx affected` compares. */
const COMMITS_OF_NX = / --(?:base|head|files)[= ]\S+/g;

const WORKSPACE_RUNNER = /^(?:turbo|nx|lerna|nextest|playwright)$/;

/**
 * A command without the options that choose tests by what changed in git, or a numbered part of them: in a clone of one
 * commit, where a candidate's patch is not committed, they choose none or the wrong ones. `nx affected` becomes
 * `nx run-many`. Filters of pnpm and turbo are left to the choice of packages.
 */
export function withAllTests(command: string): WholeCommand {
  const whole = { command, taken: [] };
  if (!MAY_CHOOSE.test(command)) return whole;
  const words = wordsOf(command);
  const found = recognise(command);
  const at = found?.at ?? words.findIndex((word) => WORKSPACE_RUNNER.test(word));
  if (at < 0) return whole;
  const taken: string[] = [];
  const take = (option: string): string => {
    taken.push(option.trim());
    return '';
  };
  let options = ` ${words.slice(at + 1).join(' ')}`;
  const [affected, target] =
    words[at] === 'nx' ? (/^ affected(?::([\w-]+))?(?= |$)/.exec(options) ?? []) : [];
  if (affected !== undefined) {
    const rest = options.slice(affected.length).replace(COMMITS_OF_NX, take);
    options = ` run-many${target === undefined ? '' : ` -t ${target}`}${rest}`;
    take(affected);
  }
  if (found?.runner === 'jest') options = options.replace(CHOICES_OF_JEST, take);
  options = options.replace(CHOICES, take);
  return taken.length === 0 ? whole : { command: `${words.slice(0, at + 1).join(' ')}${options}`, taken };
}

/** What is said about the options that were taken off; none without such. */
export const choiceNotes = (taken: readonly string[]): readonly string[] =>
  taken.length === 0
    ? []
    : [
        `The test command chooses tests by what changed in git, or a part of them (${[...new Set(taken)].join(', ')}). A candidate is tested with all of them.`,
      ];
