// Generates `.env.example`, `docs/configuration.md`, `docs/commands.md` and `docs/command-line.schema.json` from the definitions
// of settings, commands and documents, the picture of docs/arena.md from a simulated contest, and what `write-client.ts` says.
// Run it with `npm run docs` after a change; `test/docs.test.ts` fails when a file is out of date.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { exampleReport } from '../bench/arena/simulate.ts';
import { commandLineSchema } from '../src/cli/index.ts';
import { frontPicture } from '../src/core/arena/index.ts';
import { Environment, Settings } from '../src/core/settings/index.ts';
import { clientFiles } from './write-client.ts';
import { commandsPage } from './write-commands.ts';

type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
};

const descriptions = (): readonly (readonly [string, string])[] =>
  Object.entries(Environment.shape).map(([name, schema]) => [name, schema.description ?? '']);

const SECTIONS: Readonly<Record<string, string>> = {
  APP_ID: 'The GitHub App. On first use `npm start` creates it and writes these for you.',
  GITHUB_API_URL: 'GitHub Enterprise',
  HOST: 'The server',
  ARTIFACTS_URL: 'Where artifacts are stored: needed for several machines',
  ANTHROPIC_API_KEY: 'Models: one key is enough',
  MAX_CANDIDATES: 'Limits',
  RUNOFF_AGENTS: 'Agents and the sandbox',
  LOG_LEVEL: 'Monitoring and defaults',
};

function envExample(): string {
  const lines = [
    "# Copy this file to .env in Runoff's own folder, or in its data folder (RUNOFF_DATA), which takes precedence. A file in",
    '# another folder is read only if --env-file names it. Environment variables override the file. Never commit the copy.',
  ];
  for (const [name, description] of descriptions()) {
    const section = SECTIONS[name];
    if (section) lines.push('', `# --- ${section}`);
    lines.push('', ...wrapped(description), `# ${name}=`);
  }
  return `${lines.join('\n')}\n`;
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + word.length > 108) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function settingRows(schema: Schema, path: string): readonly string[] {
  const { properties, items } = schema;
  if (properties) {
    return Object.entries(properties).flatMap(([key, child]) =>
      settingRows(child, path ? `${path}.${key}` : key),
    );
  }
  const inner = items?.properties ? settingRows(items, `${path}[]`) : [];
  const fallback = schema.default === undefined ? '–' : `\`${JSON.stringify(schema.default)}\``;
  return [`| \`${path}\` | ${cell(schema.description ?? '')} | ${cell(fallback)} |`, ...inner];
}

function configuration(): string {
  const settings = z.toJSONSchema(Settings, { io: 'input' }) as Schema;
  return [
    '# Configuration',
    '',
    '`npm run docs` generates this page. To change it, edit `src/core/settings` or `scripts/write-docs.ts`.',
    '',
    '## Operator: environment',
    '',
    'Operators configure Runoff with environment variables and **one** settings file. Environment variables take',
    'precedence. The settings file is the first of these that exists:',
    '',
    '1. the file that `--env-file FILE` names; every command accepts this option;',
    '2. `.env` in the data folder: RUNOFF_DATA of the environment, else `/var/lib/runoff` for root, else `runoff` in',
    '   `$XDG_DATA_HOME` or `~/.local/share`;',
    "3. `.env` in Runoff's own folder.",
    '',
    'Runoff does not read `.env` in the current folder. Unless `--env-file` names it, it does not read a file inside a git',
    "working tree other than Runoff's own either: you may be in somebody else's repository. It names each file that it skips for",
    'this reason on standard error, or in the log of a server. `runoff doctor` prints which file is used. The set-up pages',
    'write to that file.',
    '',
    'A variable in the settings file that looks like one of these, misspelt, is named in the same places with the right name; it',
    'has no effect. Others are left alone: they may belong to programs that share the file.',
    '',
    'Relative paths (RUNOFF_DATA, RUNOFF_AGENTS, RUNOFF_PROMPTS, PRIVATE_KEY_PATH, TRACE_FOLDER) in a settings file are',
    'relative to its folder. In the environment they are relative to the current folder, and rejected if they lead into a git',
    "working tree other than Runoff's own. Paths of certificates in DATABASE_URL must be absolute.",
    '',
    '| variable | meaning |',
    '| --- | --- |',
    ...descriptions().map(([name, description]) => `| \`${name}\` | ${cell(description)} |`),
    '',
    '## Repository: `.github/auto-dev.yml`',
    '',
    'Read from the default branch when a run starts; a local run reads it from its base commit. Every key has a default. An',
    "unknown key is an error with a suggestion. The operator's limits (`MAX_…`, `NETWORK_ALLOW`) take precedence.",
    '',
    '| key | meaning | default |',
    '| --- | --- | --- |',
    ...settingRows(settings, ''),
    '',
    '`weights.tests`, `weights.simplicity` and `weights.speed` only matter with the strategy `metrics`, for candidates that the',
    'strategies before it leave undecided, or together with `weights.metrics`. On real patches a small diff is no sign of a',
    'correct one, so `simplicity` and `speed` are hardly better than chance.',
    '',
    '```yaml',
    'coders:',
    '  - { agent: builtin, model: anthropic/claude-sonnet-5, prompt: test-first }',
    '  - { agent: builtin, model: openai/gpt-6-sol }',
    'candidates: 4',
    'timeout: { candidate: 20m, silence: 5m, check: 10m }',
    'budget: { run: 5, candidate: 2 }',
    'checks: { setup: npm ci, build: npm run build, test: npm test }',
    'network: { allow: [registry.example.com] }',
    'weights: { tests: 50, simplicity: 30, speed: 20 }',
    "protect: ['.github/**', '**/*.lock']",
    'ci: hold',
    '```',
    '',
  ].join('\n');
}

/** Path → text, relative to the top folder. */
export const referenceFiles = (): Readonly<Record<string, string>> => ({
  '.env.example': envExample(),
  'docs/configuration.md': configuration(),
  'docs/commands.md': commandsPage(),
  'docs/command-line.schema.json': `${JSON.stringify(commandLineSchema(), null, 2)}\n`,
  'docs/arena-example.svg': `${frontPicture(exampleReport())}\n`,
});

if (import.meta.main) {
  for (const [path, text] of Object.entries({ ...referenceFiles(), ...(await clientFiles()) })) {
    writeFileSync(join(import.meta.dirname, '..', path), text);
  }
}
