import type { Command } from 'commander';
import { jsonOption } from './options.ts';
import { jsonText } from './render/index.ts';
import { EXIT, type PrunedByHand, type Shell } from './runtime.ts';

interface PruneFlags {
  readonly dryRun: boolean;
  readonly json?: boolean;
}

/** `runoff prune`: removes now what a server removes once a day, and says what went. */
export function addPrune(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('prune')
    .description(
      'removes what need not be kept any longer (KEEP_RUNS, KEEP_LEDGER), and what no run used for two weeks',
    )
    .option('--dry-run', 'removes nothing, and says which runs and rows would go', false)
    .addOption(jsonOption())
    .action(async ({ dryRun, json }: PruneFlags) => {
      const pruned = await shell.prune(dryRun);
      shell.screen.out(json ? `${jsonText({ dryRun, ...pruned })}\n` : `${words(pruned).join('\n')}\n`);
      done(EXIT.done);
    });
}

const size = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function words({ retired, unused }: PrunedByHand): readonly string[] {
  const rows: readonly (readonly [number, string])[] = [
    [retired.runs, 'runs with all their rows'],
    [retired.calls, 'calls to models'],
    [retired.audit, 'rows of the audit'],
    [retired.answers, 'kept answers of models'],
  ];
  if (!unused)
    return [
      ...lines(rows),
      'Nothing was removed: this is what would go, of rows. Files, and branches on GitHub, are looked at only when it is done.',
    ];
  const held = `${retired.held} runs have expired and stay for another day: their branches could not be deleted on GitHub.`;
  const busy = `${unused.busy} repositories were in use and left alone.`;
  return [
    ...lines([
      ...rows,
      [retired.branches, 'branches of losing candidates on GitHub'],
      [retired.flows, "runs in the engine's own record"],
      [retired.artifacts.files, `artifacts, ${size(retired.artifacts.bytes)}`],
      [unused.checkouts, 'checkouts'],
      [unused.layers, 'installed layers'],
      [unused.patches, 'collected trees'],
      [unused.repositories, 'mirrors'],
    ]),
    `${size(retired.artifacts.bytes + unused.bytes)} of disk were freed.`,
    ...(retired.held > 0 ? [held] : []),
    ...(unused.busy > 0 ? [busy] : []),
  ];
}

const lines = (counts: readonly (readonly [number, string])[]): readonly string[] =>
  counts.filter(([count]) => count > 0).map(([count, what]) => `${String(count).padStart(9)}  ${what}`);
