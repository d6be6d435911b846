// Writes what is said about settings and commands from where they are typed: `.env.example`, `docs/configuration.md` and
// `docs/commands.md`.
// Run it with `npm run docs` after a change; `test/docs.test.ts` fails when a file is out of date.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Environment, Settings } from '../src/core/settings/index.ts';
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
  APP_ID: 'The GitHub App. `npm start` writes these for you on first use.',
  GITHUB_API_URL: 'GitHub Enterprise',
  HOST: 'The server',
  ARTIFACTS_URL: 'Where artifacts are kept: needed for several machines',
  ANTHROPIC_API_KEY: 'Models: one key is enough',
  MAX_CANDIDATES: "What a repository's settings may ask for at most",
  RUNOFF_AGENTS: 'Agents and the sandbox',
  LOG_LEVEL: 'The rest',
};

function envExample(): string {
  const lines = [
    '# Copy to .env here, in the folder of Runoff, or in its data folder (RUNOFF_DATA), which is looked into first. `.env` of',
    '# another folder is read only where --env-file names it. A real environment variable wins. Never commit the copy.',
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
    'Made by `npm run docs` from the places where the settings are typed; edit those.',
    '',
    '## Operator: environment',
    '',
    'Read from the environment and from **one** settings file; the environment wins. The file is the first of these:',
    '',
    '1. what `--env-file FILE` names, with every command;',
    '2. `.env` in the data folder: RUNOFF_DATA of the environment, else `/var/lib/runoff` for root and',
    '   `~/.local/share/runoff` for others;',
    '3. `.env` in the folder of Runoff itself.',
    '',
    'Never `.env` of the folder in which Runoff is started, nor (unless it is named) one inside a git work tree that is not',
    "Runoff's own: people stand in repositories of others. A file that is not read for this reason is named on standard",
    'error, or in the log of a server. `runoff doctor` shows which file is read; the set-up pages write to that file.',
    '',
    'Relative paths (RUNOFF_DATA, RUNOFF_AGENTS, RUNOFF_PROMPTS, PRIVATE_KEY_PATH) are relative to the folder of the file',
    'that sets them; in the environment to the current folder, and refused where that leads into a git work tree that is',
    "not Runoff's own. Paths of certificates in DATABASE_URL must be absolute.",
    '',
    '| variable | meaning |',
    '| --- | --- |',
    ...descriptions().map(([name, description]) => `| \`${name}\` | ${cell(description)} |`),
    '',
    '## Repository: `.github/auto-dev.yml`',
    '',
    'Read from the default branch at the commit on which a run starts. Every key has a default; a key that is not known',
    "is an error with a suggestion. The operator's ceilings (`MAX_…`, `NETWORK_ALLOW`) win.",
    '',
    '| key | meaning | default |',
    '| --- | --- | --- |',
    ...settingRows(settings, ''),
    '',
    'Weights decide only between candidates that the evidence does not tell apart. On real patches a small diff is no',
    'sign of a right one, so `simplicity` and `speed` deserve no more trust than a coin that leans a little.',
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
});

if (import.meta.main) {
  for (const [path, text] of Object.entries(referenceFiles())) {
    writeFileSync(join(import.meta.dirname, '..', path), text);
  }
}
