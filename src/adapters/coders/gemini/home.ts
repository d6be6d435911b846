/**
 * Side jobs that ask for models of their own, which the gateway refuses. Names: `modelConfigs.aliases` in the bundled
 * docs/reference/configuration.md of 0.61.0.
 */
const SIDE_JOBS = [
  'summarizer-default',
  'summarizer-shell',
  'edit-corrector',
  'llm-edit-fixer',
  'next-speaker-checker',
  'loop-detection',
  'loop-detection-double-check',
  'context-snapshotter',
  'agent-history-provider-summarizer',
  'chat-compression-default',
  'chat-compression-3-pro',
  'chat-compression-3-flash',
  'chat-compression-3.1-flash-lite',
  'chat-compression-2.5-pro',
  'chat-compression-2.5-flash',
  'chat-compression-2.5-flash-lite',
] as const;

const SETTINGS = {
  security: {
    auth: { selectedType: 'gemini-api-key' },
    // Where this is on, it refuses to work headless in a folder that is not trusted.
    folderTrust: { enabled: false },
    // Commands of the model do not see the key.
    environmentVariableRedaction: { enabled: true },
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  hooksConfig: { enabled: false },
  skills: { enabled: false },
  // Subagents ask for models of their own, and a repository may define some.
  experimental: { enableAgents: false },
  modelConfigs: {
    customOverrides: SIDE_JOBS.map((job) => ({
      match: { model: job },
      modelConfig: { model: '$GEMINI_MODEL' },
    })),
  },
} as const;

/**
 * The sandbox is the wall, and nobody is there to be asked. `argsPattern` keeps it from asking about git, which it does
 * in folders that are not trusted (`applyShellHeuristics` in 0.61.0). Denied tools are not shown to the model: they need
 * the network, or models and skills that are not there.
 */
const POLICY = `[[rule]]
toolName = "*"
decision = "allow"
priority = 990

[[rule]]
toolName = "run_shell_command"
argsPattern = "."
decision = "allow"
priority = 995
allowRedirection = true

[[rule]]
toolName = ["google_web_search", "web_fetch", "invoke_agent", "activate_skill", "enter_plan_mode", "ask_user"]
decision = "deny"
priority = 999
`;

/** Its settings, which no file of the repository overrides, since the folder is not trusted. */
export const HOME_FILES: Readonly<Record<string, string>> = {
  '.gemini/settings.json': `${JSON.stringify(SETTINGS, null, 2)}\n`,
  '.gemini/policies/runoff.toml': POLICY,
};
