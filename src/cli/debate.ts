import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Debate } from '../core/debate/index.ts';
import { Fault, type Usd } from '../core/model/index.ts';
import { type DebateEvent, debateText } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { checkingOptions, jsonOption, names, parseDollars, whole } from './options.ts';
import { debateJson, debateProgress, debateReport, jsonText, roundLine } from './render/index.ts';

interface DebateFlags {
  readonly personas: readonly string[];
  readonly rounds: number;
  readonly models: readonly string[];
  readonly require?: number;
  readonly focus: readonly string[];
  readonly rotate?: boolean;
  readonly budget: Usd;
  readonly out?: string;
  readonly fresh?: boolean;
  readonly json?: boolean;
}

/** Our defaults: three critics and a few rounds, with mid-priced models. */
const PERSONAS = ['qa', 'product', 'security'];
const BUDGET_USD = 1;

export function addDebate(program: Command, shell: Shell, done: (code: number) => void): void {
  const list = (flags: string, what: string, fallback: readonly string[], defaultText: string) =>
    new Option(flags, what).argParser(names).default(fallback, defaultText);
  program
    .command('debate')
    .description('let critics debate a spec: unclear points are fixed or become questions')
    .argument('[file]', 'Markdown file (default or `-`: standard input)')
    .addOption(
      list(
        '--personas <names>',
        'critics, comma-separated: qa, product, security, oncall, performance, or your own',
        PERSONAS,
        PERSONAS.join(','),
      ),
    )
    .option('--rounds <count>', 'maximum number of rounds', whole(1), 5)
    .addOption(
      list(
        '--models <names>',
        'models as provider/model, comma-separated; the first one edits the spec',
        [],
        'those whose keys are set',
      ),
    )
    .option('--require <count>', 'number of critics that must approve (default: all)', whole(1))
    .addOption(list('--focus <areas>', 'areas that critics focus on, comma-separated', [], 'nothing'))
    .option('--rotate', 'switch each critic to the next model every round')
    .option('--budget <usd>', 'budget for the whole debate in US dollars', parseDollars, BUDGET_USD)
    .option('--out <file>', 'write the refined spec to this file')
    .option('--fresh', 'start over instead of resuming an interrupted debate of the same text')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 consensus · 1 no critic or no editor answered · 3 no consensus · 130 stopped',
    )
    .action(async (file: string | undefined, flags: DebateFlags) =>
      done(await debateFile(shell, file, flags)),
    );
}

/**
 * `runoff debate`: critics debate a text. Exit code 0 if they agree, 3 if they do not, 1 if no critic or no synthesiser
 * answered.
 */
async function debateFile(shell: Shell, file: string | undefined, flags: DebateFlags): Promise<number> {
  const read = await specText(shell, file);
  // Models write \n: edits of several lines would not be found in a text with other line ends.
  const text = read.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const { out } = flags;
  const unwritable = out === undefined ? null : await shell.unwritable(resolve(shell.cwd, out));
  if (unwritable !== null) throw new Fault('OUTPUT_UNWRITABLE', `Cannot write ${out}: ${unwritable}.`);
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const {
      personas,
      models,
      rounds: maxRounds,
      focus: focusAreas,
      rotate = false,
      budget: budgetUsd,
    } = flags;
    const request = { text, personas, models, maxRounds, focusAreas, rotate, budgetUsd };
    const more = {
      ...(flags.require === undefined ? {} : { required: flags.require }),
      ...(flags.fresh ? { fresh: shell.newRunId() } : {}),
    };
    const tell = (news: DebateEvent) => shell.screen.err(`${debateProgress(news)}\n`);
    const named = ['SETTINGS_INVALID', ...(models.length > 0 ? (['MODEL_UNKNOWN'] as const) : [])] as const;
    const { id, rounds } = await checkingOptions(named, () =>
      debateText(world, { ...request, ...more }, stop.signal, tell),
    );
    const before = await world.store.usage(id);
    let debate: Debate | null = null;
    for await (const now of rounds) {
      debate = now;
      const last = now.rounds.at(-1);
      if (last) shell.screen.err(`${roundLine(last)}\n`);
    }
    if (!debate) throw new TypeError('A debate has at least one round.');
    const paid = (await world.store.usage(id)).usd - before.usd;
    return await handOver(shell, { id, debate, paid }, flags, isCrlf(read) ? '\r\n' : '\n');
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
    shell.screen.err(`\nStopped. ${flags.fresh ? LOST : RESUMABLE}\n`);
    return EXIT.stopped;
  } finally {
    release();
    await close();
  }
}

const RESUMABLE = 'Run the same command to resume; finished answers are not paid for again.';
const LOST = 'A debate with --fresh cannot be resumed: the same command starts over.';

async function handOver(
  shell: Shell,
  ended: { readonly id: string; readonly debate: Debate; readonly paid: Usd },
  { out, json }: DebateFlags,
  lineEnd: string,
): Promise<number> {
  const { debate } = ended;
  if (out !== undefined) {
    await shell.writeText(resolve(shell.cwd, out), debate.spec.replaceAll('\n', lineEnd));
  }
  if (json) shell.screen.out(`${jsonText(debateJson(ended))}\n`);
  else shell.screen.out(debateReport(ended, out));
  const stop = debate.end?.stop;
  if (stop === 'consensus') return EXIT.done;
  return stop === 'failed' ? EXIT.failed : EXIT.nothingSurvived;
}

/** Whether all lines of a text end as on Windows. */
const isCrlf = (text: string): boolean => text.includes('\r\n') && !/(?<!\r)\n/.test(text);

async function specText(shell: Shell, file: string | undefined): Promise<string> {
  if (file === undefined || file === '-') {
    const lines: string[] = [];
    for await (const line of shell.lines()) lines.push(line);
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }
  try {
    return await shell.readText(resolve(shell.cwd, file));
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `there is no file ${file}` : message;
    throw new Fault('SPEC_MISSING', `Cannot read the spec: ${why}.`, { cause: thrown });
  }
}
