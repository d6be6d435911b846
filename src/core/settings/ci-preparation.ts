import { type CiCommand, enteredFolder, folderIn } from './ci-commands.ts';
import type { CiJob } from './ci-workflow.ts';
import type { Recipe, RepositorySnapshot } from './repository-recipe.ts';

/**
 * A recipe with what the CI job does before its first tests to files that git does not hold: it copies or creates them
 * (`cp .env.example .env`, behind set-up), and generates code (before the build). A manifest, which names set-up and
 * tests, says nothing about these.
 */
export function withPreparation(recipe: Recipe, job: CiJob | null, { files }: RepositorySnapshot): Recipe {
  const { commands, from } = recipe;
  if (job === null || commands.test === undefined) return recipe;
  const before = job.commands.slice(
    0,
    job.commands.findIndex(({ part }) => part === 'test'),
  );
  const { setup = '', build = '' } = commands;
  // Nothing can be put behind a set-up of a development container that ends so.
  const copies = /[;&]\s*$/.test(setup) ? [] : lacking(before, setup, (one) => addsFile(one, files));
  const generators = lacking(
    before,
    build,
    ({ part, command }) => part === 'build' && GENERATES.test(command),
  );
  const whole = {
    setup: [setup, ...copies].filter((one) => one !== '').join(' && '),
    build: [...generators, build].filter((one) => one !== '').join(' && '),
  };
  return {
    ...recipe,
    commands: {
      ...(whole.setup === '' ? {} : { setup: whole.setup }),
      ...(whole.build === '' ? {} : { build: whole.build }),
      test: commands.test,
    },
    from: {
      ...(copies.length > 0 ? { setup: job.file } : {}),
      ...(generators.length > 0 ? { build: job.file } : {}),
      ...from,
    },
  };
}

const lacking = (
  before: readonly CiCommand[],
  own: string,
  counts: (command: CiCommand) => boolean,
): readonly string[] => [
  ...new Set(before.filter(counts).flatMap(({ command }) => (own.includes(command) ? [] : [command]))),
];

const GENERATES =
  /^(?:\(cd \S+ && )?(?:\w+=\S+ )*(?:(?:npm|pnpm|yarn|bun|npx|bunx|make|just|task|go|prisma)\s)(?:.*[\s:])?(?:generate|codegen)\b/;

/**
 * Copies a file of the repository to a place where git holds none, or creates an empty one there: elsewhere CI may need
 * its own version of a file, and tests do not.
 */
function addsFile({ part, command }: CiCommand, files: ReadonlySet<string>): boolean {
  const folder = enteredFolder(command);
  const line = folder === '' ? command : command.slice(`(cd ${folder} && `.length, -1);
  const [, source, name, empty] = /^(?:cp(?: -[fnv])* (\S+) (\S+)|touch (\S+))$/.exec(line) ?? [];
  const at = (path: string | undefined) => (path === undefined ? null : folderIn(folder, path));
  const made = at(name ?? empty);
  if (part !== 'setup' || made === null || (source !== undefined && !files.has(at(source) ?? '')))
    return false;
  const parent = made.includes('/') ? made.slice(0, made.lastIndexOf('/') + 1) : '';
  const paths = [...files];
  return (
    paths.some((path) => path.startsWith(parent)) && !paths.some((path) => `${path}/`.startsWith(`${made}/`))
  );
}
