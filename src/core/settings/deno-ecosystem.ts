import { z } from 'zod';
import { MAX_COMMAND_CHARS } from './ci-commands.ts';
import { fillCaches } from './compiled-ecosystems.ts';
import { readJsonWithComments } from './last-resorts.ts';
import type { Ecosystem, RepositorySnapshot } from './repository-recipe.ts';

export const DENO_FILES: readonly string[] = ['deno.json', 'deno.jsonc'];

/** Files that `deno test` finds. */
export const isDenoTest = (path: string): boolean =>
  /(?:^|\/)(?:[\w.-]*[._])?test\.[cm]?[jt]sx?$|(?:^|\/)__tests__\/[^/]+\.[cm]?[jt]sx?$/.test(path);

/** A task may be a text, or start others before it. */
const Task = z.union([
  z.string().transform((command) => ({ command, dependencies: [] as string[] })),
  z.object({ command: z.string().default(''), dependencies: z.array(z.string()).default([]) }),
]);
const DenoFile = z.object({ tasks: z.record(z.string(), z.unknown()).catch({}) });

/**
 * The commands of a task of deno.json, those that start its dependencies first; null for none, or if it is not plain.
 */
export function denoTask(name: string, read: Readonly<Record<string, string>>): readonly string[] | null {
  const text = DENO_FILES.map((file) => read[file]).find((one) => one !== undefined) ?? '';
  const tasks = DenoFile.safeParse(readJsonWithComments(text)).data?.tasks ?? {};
  const task = Object.hasOwn(tasks, name) ? Task.safeParse(tasks[name]).data : undefined;
  if (task === undefined || task.command.length > MAX_COMMAND_CHARS) return null;
  if (!task.dependencies.every((one) => /^[\w:.-]+$/.test(one))) return null;
  return [...task.dependencies.map((one) => `deno task ${one}`), task.command].filter((one) => one !== '');
}

/** Set-up installs what deno.json and the tests import, since tests have no network. */
export function deno({ files, read }: RepositorySnapshot): Ecosystem | null {
  const file = DENO_FILES.find((one) => read[one] !== undefined);
  if (file === undefined) return null;
  const hasTask = denoTask('test', read) !== null;
  if (!hasTask && ![...files].some(isDenoTest)) return null;
  return {
    file,
    setup: `deno install && ${fillCaches('deno test --no-run --allow-all')}`,
    test: hasTask ? 'deno task test' : 'deno test --allow-all',
    guessed: !hasTask,
  };
}
