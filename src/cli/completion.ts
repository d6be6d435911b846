import { Argument, type Command, type Option } from 'commander';
import { EXIT, type Shell } from '../shell.ts';
import { shellWord } from './render/index.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type ShellName = (typeof SHELLS)[number];

/** `runoff completion`: prints a script that completes commands and options in a shell. */
export function addCompletion(program: Command, { screen }: Shell, done: (code: number) => void): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'shell that reads the script').choices(SHELLS))
    .action((name: ShellName) => {
      screen.out(COMPLETIONS[name](levelsOf(program)));
      done(EXIT.done);
    });
}

/** A command with what may follow it. */
interface Level {
  /** Its words without the name of the program, such as `agents install`; empty for the program itself. */
  readonly path: string;
  readonly aliases: readonly string[];
  readonly children: readonly { readonly name: string; readonly does: string }[];
  readonly options: readonly { readonly name: string; readonly does: string; readonly takesValue: boolean }[];
}

function levelsOf(command: Command, path = ''): readonly Level[] {
  const children = command.commands;
  const level = {
    path,
    aliases: command.aliases(),
    children: children.map((child) => ({ name: child.name(), does: firstSentence(child.description()) })),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionOf), HELP],
  };
  return [level, ...children.flatMap((child) => levelsOf(child, `${path} ${child.name()}`.trim()))];
}

const HELP = { name: '--help', does: 'show help', takesValue: false };

const optionOf = ({ long, short, description, required, optional }: Option) => ({
  name: long ?? short ?? '',
  does: firstSentence(description),
  takesValue: required || optional,
});

const firstSentence = (text: string): string => text.split(/[:;(]/, 1)[0]?.trim() ?? '';

const offeredIn = (level: Level): string =>
  [...level.children, ...level.options].map(({ name }) => name).join(' ');

/** The lines of a `case` that follow a word from one command to the next. An alias leads where its command does. */
const steps = (levels: readonly Level[]): readonly string[] =>
  levels
    .filter(({ path }) => path !== '')
    .map(({ path, aliases }) => {
      const parent = path.split(' ').slice(0, -1).join(' ');
      const ways = [path, ...aliases.map((alias) => `${parent} ${alias}`.trim())];
      return `      ${ways.map(shellWord).join('|')}) at=${shellWord(path)} ;;`;
    });

/** Follows the words before the cursor; used in bash and zsh. `$first` is the index of the first word after `runoff`. */
const walk = (levels: readonly Level[], words: string, until: string): string => `  local at='' word
  for word in "\${${words}}"; do
    case "\${at:+$at }$word" in
${steps(levels).join('\n')}
    esac
  done
${until}`;

const bash = (
  levels: readonly Level[],
): string => `# Completion of runoff for bash. To use it: runoff completion bash >> ~/.bashrc
_runoff() {
  local cur=\${COMP_WORDS[COMP_CWORD]}
${walk(
  levels,
  'COMP_WORDS[@]:1:COMP_CWORD-1',
  `  local words=''
  case "$at" in
${levels.map((level) => `    ${shellWord(level.path)}) words=${shellWord(offeredIn(level))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))`,
)}
}
# Where nothing fits, file names are completed.
complete -o default -F _runoff runoff
`;

const described = ({ name, does }: { readonly name: string; readonly does: string }): string =>
  shellWord(`${name}:${does}`);

const zsh = (levels: readonly Level[]): string => `#compdef runoff
# Completion of runoff for zsh. To use it: runoff completion zsh > "\${fpath[1]}/_runoff"
_runoff() {
${walk(
  levels,
  'words[@]:1:CURRENT-2',
  `  local -a offered
  case "$at" in
${levels.map((level) => `    ${shellWord(level.path)}) offered=(${[...level.children, ...level.options].map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'runoff' offered || _files`,
)}
}
if [ "$funcstack[1]" = "_runoff" ]; then _runoff "$@"; else compdef _runoff runoff; fi
`;

function fish(levels: readonly Level[]): string {
  const lines = levels.flatMap((level) => {
    const when = level.path === '' ? '__fish_use_subcommand' : seen(level);
    return [
      ...level.children.map(
        ({ name, does }) =>
          `complete -c runoff -f -n ${shellWord(when)} -a ${shellWord(name)} -d ${shellWord(does)}`,
      ),
      ...level.options
        .filter(({ name }) => name.startsWith('--'))
        .map(
          ({ name, does, takesValue }) =>
            `complete -c runoff -n ${shellWord(when)} -l ${shellWord(name.slice(2))}${takesValue ? ' -r' : ''} -d ${shellWord(does)}`,
        ),
    ];
  });
  return `# Completion of runoff for fish. To use it: runoff completion fish > ~/.config/fish/completions/runoff.fish\n${lines.join('\n')}\n`;
}

const seen = ({ path, aliases }: Level): string => {
  const [first = '', ...rest] = path.split(' ');
  const names = rest.length === 0 ? [first, ...aliases] : [first];
  const further = rest.map((word) => `; and __fish_seen_subcommand_from ${word}`).join('');
  return `__fish_seen_subcommand_from ${names.join(' ')}${further}`;
};

const COMPLETIONS: Readonly<Record<ShellName, (levels: readonly Level[]) => string>> = { bash, zsh, fish };
