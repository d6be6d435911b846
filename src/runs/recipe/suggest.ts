import { z } from 'zod';
import type { Task } from '../../core/model/index.ts';
import { block } from '../../core/prompts/index.ts';
import { failureLines } from '../../core/reports/index.ts';
import {
  COMMAND_NAMES,
  type CommandName,
  type FailedTry,
  type Recipe,
  SUGGESTED,
} from '../../core/settings/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import { askModel, payerOf, rememberAnswers } from '../ask-model.ts';
import { contestantsOf } from '../contestants.ts';
import { type ModelPorts, readTextAt, stableNonce, type World } from '../context.ts';

/** Maximum number of suggestions per run; our default. */
const MAX_SUGGESTIONS = 2;
/** US dollars of these calls together, and their share of the run's budget; our defaults. */
const CAP_USD = 0.5;
const BUDGET_SHARE = 0.1;
/** Maximum length shown to the model of a failed command's output and of each file, in characters. */
const MAX_OUTPUT_CHARS = 4_000;
const MAX_SHOWN_CHARS = 4_000;
const MAX_SHOWN_FILES = 16;

/** Files that describe how a project is set up, most informative first. */
const SHOWN_FILES: readonly RegExp[] = [
  /^(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile|Rakefile|composer\.json|CMakeLists\.txt|(?:GNUm|m|M)akefile|justfile)$/,
  /^(?:requirements[\w./-]*\.txt|\.github\/workflows\/(?:ci|tests?|build|main)\.ya?ml)$/i,
  /^(?:\.github\/|docs\/)?contributing(?:\.\w+)?$/i,
  /^(?:\.devcontainer\/devcontainer\.json|\.devcontainer\.json|Dockerfile|mise\.toml|\.tool-versions)$/,
  /^readme(?:\.\w+)?$/i,
];

const SuggestedCommand = z
  .string()
  .max(500)
  .regex(/^[^\p{Cc}]*$/u, 'write one line');

const Suggestion = z.object({
  setup: SuggestedCommand.describe('Installs what build and tests need; empty: nothing.'),
  build: SuggestedCommand.describe('Builds; empty: nothing to build.'),
  test: SuggestedCommand.describe('Runs the tests.'),
  because: z.string().max(300).describe('What was wrong, in one sentence.'),
});

interface SuggestionsFor {
  /** In the form that models may read. */
  readonly task: Task;
  readonly source: RepositorySource;
  readonly named: readonly CommandName[];
  readonly signal: AbortSignal;
}

/**
 * Asks a model for commands, given the failures and the project's own files. The task's text is not shown: issue
 * authors must not control what set-up runs (docs/decisions/0083). Null if the model has no answer or the limit of
 * suggestions is reached.
 */
export function openSuggestions(
  world: ModelPorts & Pick<World, 'coders' | 'log' | 'workspaces'>,
  { task, source, named, signal }: SuggestionsFor,
): (tries: readonly FailedTry[]) => Promise<Recipe | null> {
  let asked = 0;
  const remember = rememberAnswers(world, task.runId);
  return async (tries) => {
    const model = contestantsOf(world, task.settings)[0]?.model;
    const last = tries.at(-1);
    if (asked >= MAX_SUGGESTIONS || named.length === COMMAND_NAMES.length || !model || !last) return null;
    asked += 1;
    const files = await shownFiles(world, source, task.base.sha);
    const shown = (nonce: string) => [
      ...tries.map((one) => tryBlock(one, nonce)),
      ...filesBlocks(files, nonce),
    ];
    // Not by the output, which differs by times and folders when the commands run again after a crash.
    const key = JSON.stringify([
      'setup',
      model,
      asked,
      tries.map(({ recipe, step }) => [recipe.commands, step]),
    ]);
    const answer = await remember(key, async () => {
      const reply = await askModel({ ...world, signal }, payerOf(task), {
        spender: 'setup',
        model,
        capUsd: Math.min(CAP_USD, BUDGET_SHARE * task.settings.budget.run),
        instructions: world.prompts.setup,
        prompt: [
          ...shown(await stableNonce({ random: world.random, remember }, key)),
          'Write the commands.',
        ].join('\n\n'),
        schema: Suggestion,
        repairs: 1,
      });
      if (reply.kind === 'answer') return reply.value;
      world.log.warn({ run: task.runId, why: reply.why }, 'No model suggested other commands.');
      return null;
    });
    return answer === null ? null : suggested(answer, tries, named);
  };
}

/** Null if the suggestion was tried already. */
function suggested(
  answer: z.infer<typeof Suggestion>,
  tries: readonly FailedTry[],
  named: readonly CommandName[],
): Recipe | null {
  const [first] = tries;
  if (!first) return null;
  const commands: Partial<Record<CommandName, string>> = {};
  const from: Partial<Record<CommandName, string>> = {};
  for (const name of COMMAND_NAMES) {
    const own = named.includes(name);
    const command = own ? first.recipe.commands[name] : answer[name].trim();
    if (!command) continue;
    commands[name] = command;
    const known = tries.find(({ recipe }) => recipe.commands[name] === command)?.recipe.from[name];
    from[name] = known ?? SUGGESTED;
  }
  if (!commands.test) return null;
  const text = JSON.stringify(commands);
  const seen = tries.some(({ recipe }) => JSON.stringify(orderedCommands(recipe)) === text);
  return seen ? null : { commands, from };
}

const orderedCommands = ({ commands }: Recipe) =>
  Object.fromEntries(COMMAND_NAMES.flatMap((name) => (commands[name] ? [[name, commands[name]]] : [])));

/** The lines that name the cause may precede a long explanation. */
const outputShown = (output: string): string =>
  output.length <= MAX_OUTPUT_CHARS
    ? output
    : [...failureLines(output, 6), '[…]', output.slice(-MAX_OUTPUT_CHARS)].join('\n');

const tryBlock = ({ recipe, step, output }: FailedTry, nonce: string): string =>
  block('TRIED', nonce, `${JSON.stringify(recipe.commands)}\nFailed: ${step}\n\n${outputShown(output)}`);

async function shownFiles(
  world: Pick<World, 'workspaces'>,
  source: RepositorySource,
  sha: string,
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const paths = await world.workspaces.listFiles(source, sha);
  const wanted = SHOWN_FILES.flatMap((pattern) => paths.filter((path) => pattern.test(path))).slice(
    0,
    MAX_SHOWN_FILES,
  );
  const files = [];
  for (const path of wanted) {
    const text = await readTextAt(world, source, sha, path);
    if (text?.trim()) files.push({ path, text: text.slice(0, MAX_SHOWN_CHARS) });
  }
  return files;
}

const filesBlocks = (files: Awaited<ReturnType<typeof shownFiles>>, nonce: string): readonly string[] =>
  files.map(({ path, text }) => block('FILE', nonce, `${path}\n\n${text}`));
