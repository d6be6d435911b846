import type { Command } from 'commander';
import type { RunId } from '../core/model/index.ts';
import { visibleCode } from '../core/reports/index.ts';
import type { AuditEntry, AuditRecord } from '../ports/index.ts';
import { jsonOption, whole } from './options.ts';
import { jsonText } from './render/index.ts';
import { EXIT, type Shell } from './runtime.ts';

export interface AuditWish {
  readonly run?: RunId;
  readonly limit: number;
  readonly json: boolean;
}

/** `runoff audit`: who asked for what, what was refused and what was written to GitHub, the oldest of the newest first. */
export async function showAudit(shell: Shell, { run, limit, json }: AuditWish): Promise<number> {
  const { world, close } = await shell.open({});
  try {
    const records = await world.store.audited({ limit, ...(run === undefined ? {} : { run }) });
    const oldestFirst = records.toReversed();
    if (json) shell.screen.out(`${jsonText(oldestFirst.map(jsonOf))}\n`);
    else if (records.length === 0)
      shell.screen.out(`The audit has no row${run === undefined ? '' : ` of run ${run}`} yet.\n`);
    else shell.screen.out(`${oldestFirst.map(line).join('\n')}\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}

const jsonOf = ({ at, ...record }: AuditRecord) => ({ ...record, at: new Date(at).toISOString() });

const line = ({ at, run, entry }: AuditRecord): string => {
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  return `${when}  ${(run ?? '-').padEnd(11)}  ${visibleCode(words(entry)).replaceAll('\n', ' ')}`;
};

function words(entry: AuditEntry): string {
  switch (entry.kind) {
    case 'command': {
      const { by, text, thread, outcome } = entry;
      const came = outcome.kind === 'done' ? outcome.note : outcome.why;
      const asked = text.split('\n', 1)[0] ?? '';
      return `command  ${by.login} on #${thread}: ${asked} (${outcome.kind}: ${came})`;
    }
    case 'refusal':
      return `refusal  ${entry.cause}`;
    case 'transition':
      return `change   ${entry.from} → ${entry.to}: ${entry.cause}`;
    case 'write': {
      const { what, repository, thread, branch, outcome, status } = entry;
      const where = `${repository}${thread === undefined ? '' : `#${thread}`}${branch === undefined ? '' : ` ${branch}`}`;
      const came = outcome === 'done' ? '' : ` (${outcome}${status === undefined ? '' : `, ${status}`})`;
      return `write    ${what} ${where}${came}`;
    }
  }
}

export function addAudit(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('audit')
    .description('who asked for what, what was refused, and every write to GitHub')
    .option('--run <run>', 'only of this run')
    .option('--limit <count>', 'how many of the newest rows', whole(1), 100)
    .addOption(jsonOption())
    .action(async ({ run, limit, json = false }: { run?: string; limit: number; json?: boolean }) =>
      done(await showAudit(shell, { limit, json, ...(run === undefined ? {} : { run }) })),
    );
}
