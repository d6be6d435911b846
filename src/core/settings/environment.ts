import { z } from 'zod';
import {
  AgentCommands,
  amount,
  artifactsAddress,
  commaSeparated,
  days,
  dollarAmount,
  hostName,
  jsonValue,
  longSecret,
  networkAllow,
  optionalYesNo,
  Prices,
  privateKey,
  size,
  webAddress,
  wholeNumber,
  yesNo,
} from './environment-values.ts';
import { PAGE_VARIABLES } from './pages.ts';
import { duration } from './settings.ts';
import { TRACE_VARIABLES } from './traces.ts';

/** The operator's environment, by variable. `npm run docs` generates `docs/configuration.md` and `.env.example` from the descriptions. */
export const Environment = z.object({
  APP_ID: z
    .string()
    .regex(/^\d{1,15}$/, 'write the number of the GitHub App')
    .transform(Number)
    .optional()
    .describe(
      'Id of the GitHub App. Needed by `runoff serve` and `runoff worker`, with PRIVATE_KEY and WEBHOOK_SECRET.',
    ),
  PRIVATE_KEY: privateKey
    .optional()
    .describe("The App's private key: PEM text (line breaks may be written as \\n), or its Base64 encoding."),
  PRIVATE_KEY_PATH: z
    .string()
    .optional()
    .describe("File with the App's private key, read if PRIVATE_KEY is not set. Keep its mode at 0600."),
  WEBHOOK_SECRET: longSecret
    .optional()
    .describe(
      "The App's webhook secret, at least 16 characters. Deliveries that are not signed with it are rejected.",
    ),
  GITHUB_API_URL: webAddress
    .optional()
    .describe("URL of GitHub's API. Default: https://api.github.com, or derived from GHE_HOST."),
  GHE_HOST: hostName.optional().describe('Host name of a GitHub Enterprise Server, e.g. github.example.com.'),
  GHE_PROTOCOL: z
    .enum(['https', 'http'], 'write https or http')
    .default('https')
    .describe('Protocol of GHE_HOST: https or http. Default: https.'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address to listen on. Default: 127.0.0.1; in the container image 0.0.0.0.'),
  PORT: wholeNumber(0, 65_535, 3000)
    .unwrap()
    .optional()
    .describe('Port to listen on; 0: any free port. Default: 3000. A worker listens only if it is set.'),
  ...PAGE_VARIABLES,
  RUNOFF_DATA: z
    .string()
    .min(1)
    .describe(
      'Data folder: embedded database, mirrors, artifacts. Default: /var/lib/runoff for root, else runoff in $XDG_DATA_HOME or ~/.local/share.',
    ),
  RUNOFF_PROMPTS: z
    .string()
    .optional()
    .describe('Folder with prompts that replace the built-in ones or add to them.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'write postgres://user:password@host:port/database')
    .optional()
    .describe(
      'A Postgres server, as postgres://user:password@host:port/database. Default: an embedded one in RUNOFF_DATA.',
    ),
  ARTIFACTS_URL: artifactsAddress
    .optional()
    .describe(
      'Where patches, test results and issue texts are stored: s3://BUCKET/PREFIX, or the path of a folder that all machines share. Default: in RUNOFF_DATA, for one machine only.',
    ),
  S3_ENDPOINT: webAddress
    .optional()
    .describe('URL of the S3-compatible server of ARTIFACTS_URL. Default: Amazon S3 in S3_REGION.'),
  S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'write a region such as eu-central-1')
    .optional()
    .describe(
      'Region of the bucket. Default: AWS_REGION, else us-east-1, which most self-hosted servers accept.',
    ),
  S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('Access key id for the bucket. Default: AWS_ACCESS_KEY_ID.'),
  S3_SECRET_ACCESS_KEY: z
    .string()
    .optional()
    .describe('Secret access key for the bucket. Default: AWS_SECRET_ACCESS_KEY.'),
  S3_PATH_STYLE: optionalYesNo.describe(
    'true: the bucket is in the path (https://server/bucket); false: in the host name (https://bucket.server). Default: true with S3_ENDPOINT, else false.',
  ),
  AWS_REGION: z.string().optional().describe('Default of S3_REGION.'),
  AWS_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('Default of S3_ACCESS_KEY_ID, together with AWS_SECRET_ACCESS_KEY.'),
  AWS_SECRET_ACCESS_KEY: z
    .string()
    .optional()
    .describe('Default of S3_SECRET_ACCESS_KEY, together with AWS_ACCESS_KEY_ID.'),
  ANTHROPIC_API_KEY: z.string().optional().describe('Key for Anthropic models.'),
  ANTHROPIC_BASE_URL: webAddress
    .optional()
    .describe("URL of another server that speaks Anthropic's protocol."),
  OPENAI_API_KEY: z
    .string()
    .optional()
    .describe('Key for OpenAI models, or for the server at OPENAI_BASE_URL.'),
  OPENAI_BASE_URL: webAddress
    .optional()
    .describe("URL of any server that speaks OpenAI's Chat Completions. A local one may need no key."),
  OPENAI_MODEL: z.string().optional().describe('Default model at OPENAI_BASE_URL, as that server names it.'),
  OPENAI_PROTOCOLS: commaSeparated
    .pipe(
      z
        .array(
          z.enum(
            ['openai-chat', 'openai-responses'],
            'write openai-chat, openai-responses, or both with a comma',
          ),
        )
        .transform((protocols) => (protocols.length > 0 ? protocols : (['openai-chat'] as const))),
    )
    .describe(
      'Protocols of the server at OPENAI_BASE_URL, comma-separated, the preferred one first: openai-chat, openai-responses. Default: openai-chat.',
    ),
  GEMINI_API_KEY: z.string().optional().describe('Key for Google models.'),
  GEMINI_BASE_URL: webAddress
    .optional()
    .describe("URL of another server that speaks Google's Gemini protocol."),
  DEEPSEEK_API_KEY: z.string().optional().describe('Key for DeepSeek models (`deepseek/…`).'),
  OPENROUTER_API_KEY: z.string().optional().describe('Key for OpenRouter (`openrouter/vendor/model`).'),
  MISTRAL_API_KEY: z.string().optional().describe('Key for Mistral models (`mistral/…`).'),
  GROQ_API_KEY: z.string().optional().describe('Key for models hosted by Groq (`groq/…`).'),
  XAI_API_KEY: z.string().optional().describe('Key for xAI models (`x-ai/…`).'),
  MODEL_PRICES: jsonValue(Prices, '{}').describe(
    'Prices of models that Runoff does not know, as JSON: `{"provider/model": {"input": 3, "output": 15}}` in US dollars per million tokens (also cacheRead, cacheWrite).',
  ),
  MAX_CANDIDATES: wholeNumber(1, 12, 6).describe('Maximum number of candidates of a run. Default: 6.'),
  MAX_BUDGET_RUN: dollarAmount(10).describe('Maximum budget of a run, in US dollars. Default: 10.'),
  MAX_BUDGET_CANDIDATE: dollarAmount(5).describe('Maximum budget of one coder, in US dollars. Default: 5.'),
  MAX_BUDGET_REPOSITORY_DAY: dollarAmount(50).describe(
    'Maximum spending of one repository in a day (UTC), in US dollars. Default: 50.',
  ),
  MAX_BUDGET_DAY: dollarAmount(100).describe(
    'Maximum total spending in a day (UTC), in US dollars. Default: 100.',
  ),
  MAX_BUDGET_USER_DAY: amount
    .optional()
    .describe(
      'US dollars spent in a day (UTC) by runs that one person requested on GitHub, after which none of their runs starts. Default: MAX_BUDGET_REPOSITORY_DAY.',
    ),
  MAX_BUDGET_INSTALLATION_DAY: amount
    .optional()
    .describe(
      'US dollars spent in a day (UTC) by all repositories of one installation of the App, after which none of their runs starts. Default: MAX_BUDGET_DAY.',
    ),
  MAX_RUNS_REPOSITORY_DAY: wholeNumber(1, 100_000, 50).describe(
    'Maximum number of runs that start on GitHub for one repository in a day (UTC). Default: 50.',
  ),
  MAX_RUNS_USER_DAY: wholeNumber(1, 100_000, 20).describe(
    'Maximum number of runs that one person starts on GitHub in a day (UTC). Default: 20.',
  ),
  MAX_RUNS_INSTALLATION_DAY: wholeNumber(1, 100_000, 200).describe(
    'Maximum number of runs that start for all repositories of one installation of the App (an organisation or an account) in a day (UTC). Default: 200.',
  ),
  MAX_TOKENS_CANDIDATE: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'write a whole number')
    .transform(Number)
    .optional()
    .describe(
      'Maximum of `budget.tokens`: input and output tokens of one coder whose model has no known price. Default: none; such models are rejected.',
    ),
  MAX_TIMEOUT: duration('2h').describe(
    'Maximum duration of one coder, and of one build or test run: 90s, 30m or 2h. Default: 2h.',
  ),
  MAX_RUN_TIME: duration('24h').describe(
    'Maximum duration of all stages of a run together: 30m or 24h. Time spent waiting for people, for a slot or for a worker does not count. Default: 24h.',
  ),
  CODERS_PER_WORKER: wholeNumber(0, 64, 4).describe(
    'Coders that this process executes at the same time; 0: none, workers execute them. Default: 4.',
  ),
  EXAMINATIONS_PER_WORKER: wholeNumber(0, 64, 2).describe(
    'Runs whose candidates this process builds and tests at the same time; as many candidates, or groups of them, are examined ahead besides. 0: none, workers do it (except for `adaptive.stopEarly`). Default: 2.',
  ),
  CODERS_PER_REPOSITORY: wholeNumber(1, 64, 4).describe(
    'Coders of one repository at the same time, across all machines. Default: 4.',
  ),
  RUNOFF_WORKER_NAME: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,40}$/, 'write a short word of letters, digits, dots, dashes')
    .optional()
    .describe('Name of this `runoff worker`, if several run on one machine.'),
  RUNS_AT_ONCE: wholeNumber(1, 1_000, 8).describe(
    'Runs that this process executes at the same time; further runs wait in the run queue. Runs that wait for people do not count. Default: 8.',
  ),
  KEEP_RUNS: days(180).describe(
    'How long finished runs and their artifacts are kept, in days such as 180d; at least 4d. Runs with an open pull request, runs that wait for a pick, and runs of which somebody picked a candidate are kept. Default: 180d.',
  ),
  KEEP_LEDGER: days(400).describe(
    'How long the audit log and the cost of each model call are kept, in days such as 400d; at least 4d. Calls of a run are kept as long as the run. Default: 400d.',
  ),
  MIN_FREE_DISK: size('1GB').describe(
    'Free disk space of the data folder below which no further run starts, such as 500MB or 5GB; 0: no limit. Default: 1GB.',
  ),
  MAX_DISK: size('0').describe(
    'Maximum size of the data folder, such as 20GB; 0: no limit. Above it Runoff deletes what is not in use, least recently used first; if that is not enough, no further run starts. Default: no limit.',
  ),
  NETWORK_ALLOW: networkAllow.describe(
    'What `checks.setup` may reach, comma-separated: `registries` (the package registries that the package clients of this machine are set to), and hosts (`host` or `host:port`) that repositories may list in `network.allow`. `none`: nothing. Default: registries.',
  ),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'write trace, debug, info, warn, error, fatal or silent',
    )
    .default('info')
    .describe(
      'Lowest level that is logged: trace, debug, info, warn, error, fatal or silent. Default: info.',
    ),
  METRICS_TOKEN: longSecret
    .optional()
    .describe(
      'Token for /metrics (`Authorization: Bearer …`), at least 16 characters. Metrics reveal costs. Default: none; /metrics is disabled. See docs/operations-metrics.md.',
    ),
  ...TRACE_VARIABLES,
  MULTI_AGENT_MODE: yesNo(true).describe(
    'false: one candidate per run instead of several, through the same stages. Default: true.',
  ),
  MULTI_AGENT_COUNT: z
    .string()
    .regex(/^\d{1,2}$/, 'write a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(12))
    .optional()
    .describe('Number of candidates if the repository does not set `candidates`.'),
  MULTI_AGENT_MODELS: commaSeparated
    .pipe(z.array(z.string().regex(/^[^\s/]+(\/\S+)?$/, 'write provider/model, with commas between')))
    .describe(
      'Models (`provider/model`, or the model alone where one provider offers it; comma-separated) that are assigned in turn to coders without one.',
    ),
  ENABLE_PRE_EXECUTION_DEBATE: optionalYesNo.describe(
    'true: critics debate every brief, unless the repository sets `debate`; false: never. Default: as the repository sets `debate`.',
  ),
  RUNOFF_AGENTS: z
    .string()
    .optional()
    .describe('Folder into which `runoff agents install` installs agents. Default: in RUNOFF_DATA.'),
  AGENT_COMMANDS: jsonValue(AgentCommands, '{}').describe(
    'Your own programs as coders, by name, as JSON: `{"aider": {"argv": ["/opt/aider/bin/aider", "…"], "folder": "/opt/aider"}}`. They get the task on standard input, and GW_URL and GW_KEY in the environment; with `"speaks": "acp"` they use the Agent Client Protocol. See docs/agents.md.',
  ),
  RUNOFF_SANDBOX: z
    .enum(['bubblewrap', 'container', 'none'], 'write bubblewrap, container or none')
    .default('bubblewrap')
    .describe(
      'Sandbox for candidates: bubblewrap; container (podman or docker); none, which protects nothing and is for disposable machines only. Default: bubblewrap.',
    ),
  RUNOFF_SANDBOX_IMAGE: z
    .string()
    .regex(/^[\w][\w./:@-]{0,254}$/, 'write the name of an image')
    .optional()
    .describe('Image for RUNOFF_SANDBOX=container, with git and everything that your tests need.'),
  RUNOFF_SANDBOX_ENGINE: z
    .enum(['podman', 'docker'], 'write podman or docker')
    .optional()
    .describe(
      'Engine for RUNOFF_SANDBOX=container: podman or docker. Default: podman if it works, else docker.',
    ),
  RUNOFF_SANDBOX_WEAKER: yesNo(false).describe(
    'true: if this host does not support a protection of the sandbox, use the documented weaker one and say so in every report. Default: false; Runoff then refuses to start.',
  ),
  RUNOFF_SANDBOX_MEMORY: size('0')
    .refine((bytes) => bytes === 0 || bytes >= 4e9, 'write at least 4GB')
    .describe(
      'Maximum memory of one sandbox, such as 8GB; none has less than 4 GiB. Default: a quarter of the memory of this machine, from 4 to 16 GiB.',
    ),
  RUNOFF_SANDBOX_UID: wholeNumber(1000, 999_999_999, 64_190).describe(
    'User id of sandboxed processes if Runoff runs as root. No real user may have it. Default: 64190.',
  ),
});
export type Environment = z.output<typeof Environment>;
