import { z } from 'zod';

/** `90s`, `30m`, `2h` → seconds. */
const duration = (fallback: string) =>
  z
    .string()
    .regex(/^\d{1,5}(s|m|h)$/, 'write a whole number and a unit: 90s, 30m or 2h')
    .transform(
      (text) => Number.parseInt(text, 10) * { s: 1, m: 60, h: 3600 }[text.slice(-1) as 's' | 'm' | 'h'],
    )
    .prefault(fallback);

export const Weights = z.strictObject({
  /** Share of peer tests passed. */
  tests: z.number().min(0).max(100).default(50),
  /** Smallest production patch among the survivors, divided by this one's. */
  simplicity: z.number().min(0).max(100).default(30),
  /** Fastest survivor's coder time, divided by this one's. */
  speed: z.number().min(0).max(100).default(20),
});
export type Weights = z.infer<typeof Weights>;

export const CoderSetting = z.strictObject({
  /** Name of a coder adapter; `runoff doctor` lists them. */
  agent: z.string().min(1),
  /** `provider/model`; absent: the first default model of the keys that are set. */
  model: z.string().min(1).optional(),
  /** Prompt variant; absent: variants are taken in turn. */
  prompt: z.string().min(1).optional(),
});

/** `.github/auto-dev.yml`. Every key has a default; unknown keys are errors with a suggestion. */
export const Settings = z.strictObject({
  /** Label that starts a run. */
  label: z.string().min(1).max(50).default('auto-dev'),
  /** Contestants; fewer than `candidates` are taken in turn with the next prompt variant. */
  coders: z
    .array(CoderSetting)
    .min(1)
    .max(12)
    .default([{ agent: 'builtin' }]),
  /** How many coders compete. */
  candidates: z.number().int().min(1).max(12).default(3),
  timeout: z
    .strictObject({
      /** Wall time of one coder, from its start. */
      candidate: duration('30m'),
      /** Time since a coder's last line of output before it is stopped. */
      silence: duration('5m'),
      /** Wall time of one build or one run of the tests. */
      check: duration('10m'),
    })
    .prefault({}),
  budget: z
    .strictObject({
      /** US dollars for the whole run, planner included; enforced by the gateway. */
      run: z.number().positive().max(1000).default(5),
      /** US dollars for one coder. */
      candidate: z.number().positive().max(1000).default(2),
    })
    .prefault({}),
  checks: z
    .strictObject({
      /** Run once on the base checkout, before any candidate, e.g. to install packages. */
      setup: z.string().min(1).optional(),
      build: z.string().min(1).optional(),
      /** Detected from the repository when absent. */
      test: z.string().min(1).optional(),
    })
    .prefault({}),
  weights: Weights.prefault({}),
  /** Globs of files that no candidate may change. */
  protect: z.array(z.string().min(1).max(200)).max(100).default(['.github/**', '**/*.lock']),
  network: z
    .strictObject({
      /** `host` or `host:port` (default port 443) that `checks.setup` may reach, within the operator's NETWORK_ALLOW. */
      allow: z
        .array(z.string().regex(/^[a-z0-9.-]{1,253}(:\d{1,5})?$/, 'write an exact host name, or host:port'))
        .max(50)
        .default([]),
    })
    .prefault({}),
  /** `hold`: the pushed commit asks GitHub's own CI not to start until a person says so. */
  ci: z.enum(['hold', 'run']).default('hold'),
});
export type Settings = z.infer<typeof Settings>;
