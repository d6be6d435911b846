import { type Command, Help, type Option } from 'commander';

/** Exit codes of every command, as help and docs show them. */
export const EXIT_CODES =
  '\nExit codes: 0 done · 1 failed · 2 bad usage, or an unknown name · 3 no candidate put first or picked (`debate`, `prepare`, `arena mine`: see their help) · 130 stopped';

/** What people type, by the command's path. Each is a complete command line without `runoff`. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  run: [
    'run "Fix the parser: quoted fields are split"',
    'run --file TASK.md --repo ../tally -n 4 --budget 5',
    'run "Add a --json flag" --coders claude-code,codex --timeout 20m --evaluator evidence,human',
    'run "Fix the flaky test" --test "npm test -- --run" --yes --json',
  ],
  resume: ['resume r7k2m9q4xa'],
  cancel: ['cancel r7k2m9q4xa'],
  prepare: ['prepare', 'prepare --repo ../tally'],
  debate: ['debate SPEC.md --rounds 2'],
  demo: ['demo', 'demo --keep'],
  runs: ['runs', 'runs --limit 5 --json'],
  status: ['status', 'status r7k2m9q4xa'],
  show: ['show r7k2m9q4xa', 'show r7k2m9q4xa B', 'show r7k2m9q4xa --open'],
  explain: ['explain r7k2m9q4xa B'],
  leaderboard: [
    'leaderboard',
    'leaderboard --repo acme/shop',
    'leaderboard --repo .',
    'leaderboard --kind bug --json',
  ],
  audit: ['audit --limit 20', 'audit --run r7k2m9q4xa'],
  ui: ['ui --open', 'ui r7k2m9q4xa --open'],
  answer: ['answer r7k2m9q4xa 2', 'answer r7k2m9q4xa "Round half up"'],
  approve: ['approve r7k2m9q4xa'],
  revise: ['revise r7k2m9q4xa "Leave the public functions as they are"'],
  pick: ['pick r7k2m9q4xa', 'pick r7k2m9q4xa B', 'pick r7k2m9q4xa none'],
  select: [
    'select --writers --judges --budget 0.50 < pools.jsonl > picks.jsonl',
    'select --explain < pools.jsonl',
  ],
  arena: ['arena init prompts', 'arena gen prompts', 'arena vote prompts', 'arena report prompts'],
  doctor: ['doctor', 'doctor --repo ../tally'],
  models: ['models'],
  agents: ['agents', 'agents install claude-code'],
  serve: ['serve'],
  worker: ['worker'],
  workers: ['workers'],
  token: ['token create --help', 'token list'],
  forget: ['forget acme/tally'],
  'move-database': ['move-database --to postgres://runoff@db.example.com/runoff'],
  prune: ['prune --dry-run', 'prune', 'prune --branches --repo ../tally'],
  completion: ['completion bash >> ~/.bashrc', 'completion fish > ~/.config/fish/completions/runoff.fish'],
};

/** An option that is off unless it is given needs no default in the help; one that must be given says so. */
export function optionDescription(option: Option): string {
  if (option.defaultValue === false) return option.description;
  return `${new Help().optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;
}

/** Adds its examples to the help of each command. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const lines = (EXAMPLES[command.name()] ?? []).map((example) => `  runoff ${example}`);
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
}
