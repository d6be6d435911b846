import type { Coder, CoderInput } from '../../../ports/index.ts';
import { installedAgent } from '../installed.ts';
import { readLine } from './events.ts';
import { HOME_FILES } from './home.ts';

/** Gemini CLI by Google, headless. Flags and variables: its bundled docs of 0.61.0. */
export function geminiCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'gemini');
  return {
    name: 'gemini',
    protocols: ['gemini'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, '--output-format=stream-json', `--model=${input.model}`],
      env: environment(input),
      // A task that begins with `/` would be taken for one of its commands.
      stdin: `Task:\n\n${input.prompt}`,
      files: HOME_FILES,
      binds,
    }),
    read: readLine,
    version,
    trial: () => ({ argv: [...start, '--version'], env: QUIET, binds }),
  };
}

const QUIET = {
  GEMINI_TELEMETRY_ENABLED: 'false',
  // It would start itself once more only to have a bigger heap.
  GEMINI_CLI_NO_RELAUNCH: 'true',
  GEMINI_SANDBOX: 'false',
  /**
   * Nothing from the repository: settings, hooks, MCP servers, `.env`, skills, policies and GEMINI.md. What it asks in
   * such a folder is answered by the policy among its files.
   */
  GEMINI_CLI_TRUST_WORKSPACE: 'false',
} as const;

const environment = ({ model, gateway }: CoderInput): Readonly<Record<string, string>> => ({
  ...QUIET,
  GEMINI_API_KEY: gateway.key,
  GOOGLE_GEMINI_BASE_URL: gateway.url,
  // Its settings name the model for side jobs by this variable: a name in them would itself be expanded.
  GEMINI_MODEL: model,
});
