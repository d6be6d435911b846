import { z } from 'zod';
import type { Contestant } from '../model/index.ts';
import { CoderSetting, duration, problemsOf, readSettingsText } from '../settings/index.ts';
import {
  ARENA_VERSION,
  ArenaId,
  type ArenaTask,
  CONTEST_YAML,
  FilePath,
  repeated,
  tasksFrom,
} from './tasks.ts';

/** What a contest may be called: a folder's name everywhere. */
export const isContestName = (name: string): boolean => /^[a-z0-9][\w.-]{0,60}$/i.test(name);

/** The file of a contest, in its folder. */
export const CONTEST_FILE = 'contest.yml';

/** Instead of an agent: the model itself is asked once, for a text or a unified diff. */
export const NO_AGENT = 'none';

const PromptName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,60}$/i, 'name prompts with letters, digits, dots and hyphens');
// With its provider, so that a contest means the same wherever it is repeated.
const ModelName = CoderSetting.shape.model.unwrap().regex(/\//, 'write provider/model');
const AgentName = CoderSetting.shape.agent;
const Prompt = z.union([z.string().max(100_000), z.strictObject({ file: FilePath })]);

const Product = z.strictObject({
  prompts: z.array(PromptName).min(1, 'name at least one prompt').max(50),
  models: z.array(ModelName).min(1, 'name at least one model as provider/model').max(100),
  agents: z.array(AgentName).min(1).max(20).default([NO_AGENT]),
});
const Listed = z.strictObject({
  id: ArenaId.optional(),
  agent: AgentName.default(NO_AGENT),
  model: ModelName,
  prompt: PromptName,
  argv: CoderSetting.shape.argv,
});

/** `contest.yml`. Unknown fields are errors with a suggestion. The tasks are read by `tasksFrom`. */
const ContestFile = z.strictObject({
  version: z.literal(ARENA_VERSION),
  name: z.string().regex(/^[a-z0-9][\w.-]{0,60}$/i, 'use letters, digits, dots and hyphens'),
  prompts: z.record(PromptName, Prompt).default({}),
  contestants: z.union([Product, z.array(Listed).max(1000)]),
  tasks: z.union([FilePath, z.array(z.unknown()).max(100_000)]),
  rounds: z.number().int().min(1).max(100).default(1),
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(1),
  temperature: z.union([z.literal('default'), z.number().min(0).max(2)]).default(0),
  repair: z.boolean().default(false),
  budget: z.number().positive().max(100_000).default(5),
  limits: z
    .strictObject({
      parallel: z.number().int().min(1).max(64).default(4),
      time: duration('10m'),
      tokens: z.number().int().min(1).max(1_000_000).default(16_000),
      dollars: z.number().positive().max(100_000).optional(),
    })
    .prefault({}),
  votes: z.strictObject({ results: z.enum(['before', 'after']).default('after') }).prefault({}),
  judges: z.array(ModelName).max(20).default([]),
});

/** One who answers every task: an agent, or none, with a model and a prompt. */
export interface ArenaContestant extends Pick<Contestant, 'agent' | 'model' | 'prompt' | 'argv'> {
  /** Unique in its contest; stands in every sample. */
  readonly id: string;
}

export interface Contest {
  readonly name: string;
  /** Texts by name, or files with the text, relative to the folder of the contest. */
  readonly prompts: Readonly<Record<string, string | { readonly file: string }>>;
  readonly contestants: readonly ArenaContestant[];
  /** A dataset (`.jsonl`, `.yml`, `.yaml`), relative to the folder of the contest, or the tasks themselves. */
  readonly tasks: { readonly file: string } | readonly ArenaTask[];
  readonly rounds: number;
  readonly seed: number;
  /** `default`: the provider's, for models that accept no other. */
  readonly temperature: number | 'default';
  /** Whether a plain model call whose diff does not apply gets one more turn, with the error. */
  readonly repair: boolean;
  /** US dollars for the whole contest, whatever its version. */
  readonly budget: number;
  readonly limits: {
    /** Samples at a time. */
    readonly parallel: number;
    /** Seconds for one sample, without its verification. */
    readonly time: number;
    /** Output tokens of one plain model call. */
    readonly tokens: number;
    /** US dollars for one sample; absent: what is left of the budget. */
    readonly dollars?: number | undefined;
  };
  /** Whether executed results are shown before a vote or after it. */
  readonly votes: { readonly results: 'before' | 'after' };
  /** Models that may vote, as `provider/model`. */
  readonly judges: readonly string[];
}

type ParsedContest =
  | { readonly kind: 'contest'; readonly contest: Contest }
  /** Each begins with `file:line:column: ` or `file: `. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** Reads `contest.yml`. Never throws. */
export function readContest(text: string, fileName: string = CONTEST_FILE): ParsedContest {
  const read = readSettingsText(text, fileName, CONTEST_YAML);
  if (read.kind === 'invalid') return read;
  const parsed = ContestFile.safeParse(read.value ?? {});
  if (!parsed.success) {
    const found = problemsOf(parsed.error, { schema: ContestFile, kind: 'field' });
    return { kind: 'invalid', problems: found.map(({ path, message }) => read.locate(path) + message) };
  }
  const { contestants: field, tasks: listed, version: _, ...rest } = parsed.data;
  const contestants = contestantsOf(field);
  const tasks = Array.isArray(listed)
    ? tasksFrom(listed, (at, path) => read.locate(['tasks', at, ...path]))
    : null;
  const problems = [
    ...fieldProblems(contestants, parsed.data.prompts).map((why) => read.locate(['contestants']) + why),
    ...(Array.isArray(listed) && listed.length === 0
      ? [`${read.locate(['tasks'])}The contest has no tasks: list at least one, or name a dataset file.`]
      : []),
    ...(tasks?.problems ?? []),
  ];
  if (problems.length > 0) return { kind: 'invalid', problems };
  const from = tasks ? tasks.tasks : { file: listed as string };
  return { kind: 'contest', contest: { ...rest, contestants, tasks: from } };
}

/** `plain/openai/gpt-6`, and with an agent `plain/openai/gpt-6/codex`. Never parsed. */
const idOf = ({ agent, model, prompt }: Omit<ArenaContestant, 'id'>): string =>
  [prompt, model, ...(agent === NO_AGENT ? [] : [agent])].join('/');

function contestantsOf(field: z.infer<typeof ContestFile>['contestants']): readonly ArenaContestant[] {
  if (Array.isArray(field)) {
    return field.map(({ id, argv, ...rest }) => ({
      id: id ?? idOf(rest),
      ...rest,
      ...(argv ? { argv } : {}),
    }));
  }
  return field.agents.flatMap((agent) =>
    field.models.flatMap((model) =>
      field.prompts.map((prompt) => ({
        id: idOf({ agent, model, prompt }),
        agent,
        model,
        prompt,
      })),
    ),
  );
}

function fieldProblems(
  contestants: readonly ArenaContestant[],
  prompts: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (contestants.length === 0)
    return ['The contest is empty: list at least one contestant, or prompts and models.'];
  const twice = repeated(contestants.map(({ id }) => id)).map(
    (id) => `Two contestants have the id \`${id}\`; give one of them another \`id\`.`,
  );
  const unknown = new Set(
    contestants
      .filter(({ agent, prompt }) => agent === NO_AGENT && !Object.hasOwn(prompts, prompt))
      .map(({ prompt }) => prompt),
  );
  const unusable = contestants
    .filter(({ id }) => !ArenaId.safeParse(id).success)
    .map(
      ({ id, model }) =>
        `The model \`${model}\` makes no usable id of a contestant: \`${id}\`. List its contestants one by one, each with an \`id\` of letters, digits and . _ - : / @ +, at most 200.`,
    );
  return [
    ...twice,
    ...unusable,
    ...[...unknown].map(
      (name) =>
        `The prompt \`${name}\` is not in \`prompts\`. Runoff's own variants are for agents; a plain model call needs its text here.`,
    ),
  ];
}
