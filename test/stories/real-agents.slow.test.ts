import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { startEmbeddedPostgres } from '../../src/adapters/database/index.ts';
import { runJson } from '../../src/cli/index.ts';
import { isOver } from '../../src/core/model/index.ts';
import type { RunView } from '../../src/core/reports/index.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import type { Action, Scripts, Turn } from '../../src/demo/scripted-models/index.ts';
import { INSTALL_MS, installedAgents } from '../setup/agents.ts';
import { withDemoApp } from '../world/demo-app.ts';

/** Who writes with which of the sample's scripts. */
const FIELD = {
  heron: { agent: 'claude-code', model: 'anthropic/scripted-heron' },
  otter: { agent: 'codex', model: 'openai/scripted-otter' },
  mole: { agent: 'opencode', model: 'openai/scripted-mole' },
  wren: { agent: 'pi', model: 'anthropic/scripted-wren' },
} as const;
type Name = keyof typeof FIELD;
const NAMES = Object.keys(FIELD) as readonly Name[];

const SETTINGS = stringify({
  candidates: 4,
  coders: NAMES.map((name) => FIELD[name]),
  budget: { run: 4, candidate: 1 },
  // npm takes longer to start than what the sample's scripts name.
  checks: { build: 'node scripts/build.mjs', test: 'node --test' },
});

const MODULE = `
const { readFileSync, writeFileSync } = require('node:fs');
const { path, old, fresh } = JSON.parse(Buffer.from(process.argv[1], 'base64'));
writeFileSync(path, old === undefined ? fresh : readFileSync(path, 'utf8').replace(old, () => fresh));`;

/** A change of a file as a shell command: agents differ in what they ask before a tool of theirs may overwrite one. */
const changing = (change: { path: string; old?: string; fresh: string }): Action => ({
  do: 'shell',
  command: `/opt/toolchain/bin/node -e "${MODULE}" ${Buffer.from(JSON.stringify(change)).toString('base64')}`,
});

/** A turn of the sample's scripts, which name the builtin coder's tools, for any agent. */
function forAnyAgent(turn: Turn): Turn {
  if (turn.kind !== 'call') return turn;
  const { text, tool, input } = turn;
  const { command, path, content, old, new: fresh } = input as Readonly<Record<string, string>>;
  return { kind: 'do', text, action: actionOf() };

  function actionOf(): Action {
    if (tool === 'bash') return { do: 'shell', command: command ?? '' };
    if (tool === 'edit') return changing({ path: path ?? '', old: old ?? '', fresh: fresh ?? '' });
    return path?.startsWith('test/')
      ? { do: 'write', path: `/repo/${path}`, content: content ?? '' }
      : changing({ path: path ?? '', fresh: content ?? '' });
  }
}

const scripts: Scripts = Object.fromEntries(
  Object.entries<Scripts[string]>(SCRIPTS).map(([name, script]) => [
    name,
    { ...script, turns: script.turns.map(forAnyAgent) },
  ]),
);

const hasEnded = ({ state }: RunView['candidates'][number]) => state !== 'queued' && state !== 'coding';

/** All that the App keeps: its files, and every row of its database as text. */
async function kept(data: string): Promise<readonly string[]> {
  const postgres = await startEmbeddedPostgres({ dir: join(data, 'pg') });
  const client = new pg.Client({ connectionString: postgres.url('runoff') });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const rows: string[] = [];
  for (const { name } of tables.rows) {
    const found = await client.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`);
    rows.push(...found.rows.map(({ row }) => row));
  }
  await client.end();
  const entries = await readdir(data, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('/toolchain'));
  const texts = files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1'));
  return [...rows, ...(await Promise.all(texts))];
}

describe('four real agents compete on one issue', () => {
  let agents: string;
  beforeAll(async () => {
    agents = await installedAgents(NAMES.map((name) => FIELD[name].agent));
  }, INSTALL_MS);

  test('and the one with the best evidence becomes a draft pull request', { timeout: 1_200_000 }, () =>
    withDemoApp({ agents, scripts, settings: SETTINGS }, async (demo) => {
      const issue = await demo.label();
      // Two waits: real agents alone may take as long as a whole run of the builtin one.
      await demo.run(
        issue,
        ({ state, candidates }) => isOver(state) || (candidates.length === 4 && candidates.every(hasEnded)),
      );
      const view = await demo.run(issue);
      expect(view.state, JSON.stringify(runJson(view), null, 1)).toBe('published');

      const by = Object.fromEntries(
        NAMES.map((name) => [name, view.candidates.find((c) => c.contestant?.agent === FIELD[name].agent)]),
      ) as Record<Name, (typeof view.candidates)[number]>;
      for (const name of NAMES) {
        const candidate = by[name];
        expect(candidate.contestant).toMatchObject(FIELD[name]);
        // Each wrote a patch of its own, was metered, and is known by its version.
        expect(candidate, candidate.note).toMatchObject({ patch: { files: expect.any(Number) } });
        expect(candidate.usage?.calls).toBeGreaterThanOrEqual(2);
        expect(candidate.usage?.usd).toBeGreaterThan(0);
        expect(candidate.coderVersion).toMatch(/^\d+\.\d+\.\d+/);
      }

      // Who wins is decided by what was executed, as it is among four of the builtin coder.
      expect(view.decision).toMatchObject({ kind: 'winner', alias: by.heron.alias });
      const failed = (name: Name) =>
        view.evidence.find((e) => e.alias === by[name].alias)?.gates.find((gate) => !gate.passed)?.gate;
      expect(failed('heron')).toBeUndefined();
      expect(failed('otter')).toBeUndefined();
      expect(failed('mole')).toBe('untampered');
      expect(failed('wren')).toMatch(/parses|builds/);

      const pulls = await demo.environment.github.as(MAINTAINER).pulls(REPOSITORY);
      expect(pulls).toMatchObject([
        { draft: true, head: { ref: `auto-dev/${issue}/${view.id}/${by.heron.alias}` } },
      ]);
      const [comparison = ''] = await demo.comments(pulls[0]?.number ?? 0);
      for (const name of NAMES) {
        expect(comparison).toContain(FIELD[name].agent);
        expect(comparison).toContain(`scripted-${name}`);
        expect(comparison).toContain(by[name].coderVersion);
      }

      // The operator's keys are in nothing that stays: the winner's model is, as a proof that the search works.
      const everything = await kept(join(demo.environment.home, 'data'));
      expect(everything.some((text) => text.includes('scripted-heron'))).toBe(true);
      for (const text of everything) expect(text.includes('scripted-key-for-')).toBe(false);
    }),
  );
});
