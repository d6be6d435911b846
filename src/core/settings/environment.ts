import { z } from 'zod';
import {
  AgentCommands,
  amount,
  artifactsAddress,
  days,
  dollars,
  hostName,
  hosts,
  json,
  list,
  optionalYesNo,
  Prices,
  privateKey,
  size,
  webAddress,
  whole,
  yesNo,
} from './environment-values.ts';
import { duration } from './settings.ts';

/** The operator's environment, by variable. `docs/configuration.md` and `.env.example` are made from the descriptions. */
export const Environment = z.object({
  APP_ID: z
    .string()
    .regex(/^\d{1,15}$/, 'write the number of the GitHub App')
    .transform(Number)
    .optional()
    .describe(
      'Number of the GitHub App. Needed by `runoff serve` only, with PRIVATE_KEY and WEBHOOK_SECRET.',
    ),
  PRIVATE_KEY: privateKey
    .optional()
    .describe("The App's private key: PEM text, also with \\n for its line ends, or base 64 of it."),
  PRIVATE_KEY_PATH: z
    .string()
    .optional()
    .describe(
      "File that holds the App's private key; read when PRIVATE_KEY is not set. Keep its mode at 0600.",
    ),
  WEBHOOK_SECRET: z
    .string()
    .min(16, 'needs at least 16 characters; `openssl rand -hex 32` makes a good one')
    .optional()
    .describe(
      "The App's webhook secret, at least 16 characters: deliveries that are not signed with it are refused.",
    ),
  GITHUB_API_URL: webAddress
    .optional()
    .describe("Address of GitHub's API. Default https://api.github.com, or what GHE_HOST implies."),
  GHE_HOST: hostName.optional().describe('Host of a GitHub Enterprise Server, e.g. github.example.com.'),
  GHE_PROTOCOL: z
    .enum(['https', 'http'], 'write https or http')
    .default('https')
    .describe('Protocol of GHE_HOST: https or http. Default https.'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address to listen on. Default 127.0.0.1; 0.0.0.0 in a container.'),
  PORT: whole(0, 65_535, 3000)
    .unwrap()
    .optional()
    .describe('Port to listen on. Default 3000; 0 takes a free one. A worker listens only where it is set.'),
  RUNOFF_DATA: z
    .string()
    .min(1)
    .describe(
      'Folder for the embedded database, mirrors and artifacts. Default: the usual place for application data.',
    ),
  RUNOFF_PROMPTS: z.string().optional().describe('Folder of prompts that stand in for ours or add to them.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'write postgres://user:password@host:port/database')
    .optional()
    .describe('A Postgres server; absent: an embedded one is started below RUNOFF_DATA.'),
  ARTIFACTS_URL: artifactsAddress
    .optional()
    .describe(
      'Where patches, test runs and issue texts are kept: s3://BUCKET/PREFIX, or the path of a folder that all machines share. Default: below RUNOFF_DATA, for one machine only.',
    ),
  S3_ENDPOINT: webAddress
    .optional()
    .describe(
      'Address of the S3-compatible server of ARTIFACTS_URL. Default: the one of Amazon in S3_REGION.',
    ),
  S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'write a region such as eu-central-1')
    .optional()
    .describe(
      'Region of the bucket. Default: AWS_REGION, else us-east-1, which servers of your own mostly accept.',
    ),
  S3_ACCESS_KEY_ID: z.string().optional().describe('Access key for the bucket. Default: AWS_ACCESS_KEY_ID.'),
  S3_SECRET_ACCESS_KEY: z
    .string()
    .optional()
    .describe('Secret that belongs to the access key. Default: AWS_SECRET_ACCESS_KEY.'),
  S3_PATH_STYLE: optionalYesNo.describe(
    'true: the bucket is part of the path (https://server/bucket); false: of the host (https://bucket.server). Default: true with S3_ENDPOINT, else false.',
  ),
  AWS_REGION: z.string().optional().describe('Stands in for S3_REGION.'),
  AWS_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('Stands in for S3_ACCESS_KEY_ID, with AWS_SECRET_ACCESS_KEY.'),
  AWS_SECRET_ACCESS_KEY: z
    .string()
    .optional()
    .describe('Stands in for S3_SECRET_ACCESS_KEY, with AWS_ACCESS_KEY_ID.'),
  ANTHROPIC_API_KEY: z.string().optional().describe('Key for Anthropic models.'),
  ANTHROPIC_BASE_URL: webAddress.optional().describe("Another address for Anthropic's protocol."),
  OPENAI_API_KEY: z
    .string()
    .optional()
    .describe('Key for OpenAI models, or for the server at OPENAI_BASE_URL.'),
  OPENAI_BASE_URL: webAddress
    .optional()
    .describe("Any server that speaks OpenAI's Chat Completions; a local one may need no key."),
  OPENAI_MODEL: z.string().optional().describe('Default model at OPENAI_BASE_URL, as that server names it.'),
  OPENAI_PROTOCOLS: list
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
      'Protocols of the server at OPENAI_BASE_URL, the preferred one first: openai-chat, openai-responses. Default openai-chat.',
    ),
  GEMINI_API_KEY: z.string().optional().describe('Key for Google models.'),
  GEMINI_BASE_URL: webAddress.optional().describe("Another address for Google's Gemini protocol."),
  DEEPSEEK_API_KEY: z.string().optional().describe('Key for DeepSeek models (`deepseek/…`).'),
  OPENROUTER_API_KEY: z.string().optional().describe('Key for OpenRouter (`openrouter/vendor/model`).'),
  MISTRAL_API_KEY: z.string().optional().describe('Key for Mistral models (`mistral/…`).'),
  GROQ_API_KEY: z.string().optional().describe('Key for models at Groq (`groq/…`).'),
  XAI_API_KEY: z.string().optional().describe('Key for xAI models (`x-ai/…`).'),
  MODEL_PRICES: json(Prices, '{}').describe(
    'JSON: `{"provider/model": {"input": 3, "output": 15}}` in US dollars per million tokens (also cacheRead, cacheWrite), for models whose price is not known.',
  ),
  MAX_CANDIDATES: whole(1, 12, 6).describe('Most candidates of one run. Default 6.'),
  MAX_BUDGET_RUN: dollars(10).describe('Most US dollars for one run. Default 10.'),
  MAX_BUDGET_CANDIDATE: dollars(5).describe('Most US dollars for one coder. Default 5.'),
  MAX_BUDGET_REPOSITORY_DAY: dollars(50).describe(
    'Most US dollars for all runs of one repository in a day (UTC). Default 50.',
  ),
  MAX_BUDGET_DAY: dollars(100).describe('Most US dollars for everything in a day (UTC). Default 100.'),
  MAX_BUDGET_USER_DAY: amount
    .optional()
    .describe(
      'Most US dollars in a day (UTC) for the runs that one person asked for on GitHub; from then on that person starts no more of them. Default: as MAX_BUDGET_REPOSITORY_DAY.',
    ),
  MAX_BUDGET_INSTALLATION_DAY: amount
    .optional()
    .describe(
      'Most US dollars in a day (UTC) for all repositories of one installation of the App; from then on none of them starts a run. Default: as MAX_BUDGET_DAY.',
    ),
  MAX_RUNS_REPOSITORY_DAY: whole(1, 100_000, 50).describe(
    'Most runs that start on GitHub for one repository in a day (UTC). Default 50.',
  ),
  MAX_RUNS_USER_DAY: whole(1, 100_000, 20).describe(
    'Most runs that one person may start on GitHub in a day (UTC). Default 20.',
  ),
  MAX_RUNS_INSTALLATION_DAY: whole(1, 100_000, 200).describe(
    'Most runs that start for all repositories of one installation of the App (an organisation or an account) in a day (UTC). Default 200.',
  ),
  MAX_TOKENS_CANDIDATE: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'write a whole number')
    .transform(Number)
    .optional()
    .describe(
      'Most tokens, in and out, that `budget.tokens` may give one coder whose model has no known price. Absent: such models are refused.',
    ),
  MAX_TIMEOUT: duration('2h').describe(
    'Longest wall time of one coder, or of one build or test run: 90s, 30m or 2h. Default 2h.',
  ),
  MAX_RUN_TIME: duration('24h').describe(
    'Longest time that a run may work, all stages together: 30m or 24h. Time spent waiting for people, for a slot or for a worker does not count. Default 24h.',
  ),
  CODERS_PER_WORKER: whole(0, 64, 4).describe(
    'Coders that run at the same time on this machine. 0: none; workers take them. Default 4.',
  ),
  EXAMINATIONS_PER_WORKER: whole(0, 64, 2).describe(
    'Runs whose candidates are built and tested at the same time on this machine. 0: none; workers take them. Default 2.',
  ),
  CODERS_PER_REPOSITORY: whole(1, 64, 4).describe(
    'Coders that run at the same time for one repository. Default 4.',
  ),
  RUNOFF_WORKER_NAME: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,40}$/, 'write a short word of letters, digits, dots, dashes')
    .optional()
    .describe('Name of this `runoff worker` where several run on one machine.'),
  RUNS_AT_ONCE: whole(1, 1_000, 8).describe(
    'Runs that this process works on at the same time; further ones wait in line. Runs that wait for people are not counted. Default 8.',
  ),
  KEEP_RUNS: days(180).describe(
    'How long runs that are over are kept, in days such as 180d: their rows, and what only they refer to. Runs whose pull request is open, that wait for a pick, or of which somebody picked a candidate stay. Default 180d.',
  ),
  KEEP_LEDGER: days(400).describe(
    'How long it is kept what each call to a model cost, and the audit, in days such as 400d. At least 4d; calls of runs that are still kept stay with them. Default 400d.',
  ),
  MIN_FREE_DISK: size('1GB').describe(
    'Free space of the data folder under which no further run begins, such as 500MB or 5GB; those that wait are told why. 0: never. Default 1GB.',
  ),
  MAX_DISK: size('0').describe(
    'How much the data folder may hold, such as 20GB: above it, what is not in use is removed, the least recently used first, and then no further run begins. Absent or 0: no limit.',
  ),
  NETWORK_ALLOW: hosts.describe(
    'Hosts (`host` or `host:port`, commas between) that `checks.setup` of a repository may ask for. Default none.',
  ),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'write trace, debug, info, warn, error, fatal or silent',
    )
    .default('info')
    .describe('How much is logged: trace, debug, info, warn, error, fatal or silent. Default info.'),
  METRICS_TOKEN: z
    .string()
    .min(16, 'needs at least 16 characters; `openssl rand -hex 32` makes a good one')
    .optional()
    .describe(
      'Who sends it (`Authorization: Bearer …`) may read /metrics, dollars included; at least 16 characters. Absent: there is no /metrics. See docs/operations-metrics.md.',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress
    .optional()
    .describe(
      'OpenTelemetry collector (OTLP over HTTP, `/v1/traces` is added) that gets a trace of each run: names, times, dollars, never texts. Absent: no traces.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(/^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/, 'write name=value, with commas between')
    .optional()
    .describe('Headers for the collector, such as its key: `name=value`, commas between.'),
  MULTI_AGENT_MODE: yesNo(true).describe(
    'false: one coder instead of several, through the same stages. Default true.',
  ),
  MULTI_AGENT_COUNT: z
    .string()
    .regex(/^\d{1,2}$/, 'write a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(12))
    .optional()
    .describe('Candidates of a run whose repository does not say how many.'),
  MULTI_AGENT_MODELS: list
    .pipe(z.array(z.string().regex(/^[^/]+\/.+$/, 'name models as provider/model, with commas between')))
    .describe('Models (`provider/model`, commas between) for coders that name none, in turn.'),
  ENABLE_PRE_EXECUTION_DEBATE: optionalYesNo.describe(
    'true: critics debate every brief of repositories that say nothing else; false: nowhere. Absent: as the repository says, by default where the brief is unclear or the risk is high.',
  ),
  RUNOFF_AGENTS: z
    .string()
    .optional()
    .describe('Folder of the agents that `runoff agents install` puts there. Default: below RUNOFF_DATA.'),
  AGENT_COMMANDS: json(AgentCommands, '{}').describe(
    'JSON: `{"aider": {"argv": ["/opt/aider/bin/aider", "…"], "folder": "/opt/aider"}}`: programs of yours as coders, by name. They get the task on standard input, GW_URL and GW_KEY; `"speaks": "acp"` for the Agent Client Protocol. See docs/agents.md.',
  ),
  RUNOFF_SANDBOX: z
    .enum(['bubblewrap', 'container', 'none'], 'write bubblewrap, container or none')
    .default('bubblewrap')
    .describe(
      'What candidates are executed in: bubblewrap; container (podman or docker); none, which holds nothing back and is for throw-away machines only. Default bubblewrap.',
    ),
  RUNOFF_SANDBOX_IMAGE: z
    .string()
    .regex(/^[\w][\w./:@-]{0,254}$/, 'write the name of an image')
    .optional()
    .describe('Image for RUNOFF_SANDBOX=container; holds git and what your tests need.'),
  RUNOFF_SANDBOX_ENGINE: z
    .enum(['podman', 'docker'], 'write podman or docker')
    .optional()
    .describe('Program for RUNOFF_SANDBOX=container. Default: podman if it works, else docker.'),
  RUNOFF_SANDBOX_WEAKER: yesNo(false).describe(
    'true: where this host forbids a step of the sandbox, the stated weaker one is taken, and every report says so. Default false: Runoff refuses to start.',
  ),
  RUNOFF_SANDBOX_UID: whole(1000, 999_999_999, 64_190).describe(
    'User id that sandboxes run as when Runoff runs as root. No real user may have it. Default 64190.',
  ),
});
export type Environment = z.output<typeof Environment>;
