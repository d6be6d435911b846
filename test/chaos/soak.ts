/** `npm run chaos`: see `HELP`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endDatabases, endLeftOvers, mayMount, unmountLeftOvers } from './clean-up.ts';
import { KILLS, KINDS, type Kind } from './plan.ts';
import type { RoundNews, RoundOptions } from './round.ts';
import { type Result, writeResult } from './soak-result.ts';

const HELP = `npm run chaos -- [options]

Does to Runoff what operations do to it, at random moments, and looks whether every run ends as without: kills the App,
Postgres, workers, sandboxes and any child; silences the database; freezes processes; damages files; fills disks. Each round
has an App, a GitHub and scripted models of its own below the temporary folder, and ends only what it started.

  --minutes N   begins no further fault after N minutes (default 5)
  --kills N     ends after N kills; other faults are not counted (default: no such limit)
  --seed N      of all that is drawn (default: of the clock; it is said at the end)
  --round N     plays this round of the seed only, as after a failure
  --lanes N     rounds at a time (default ${availableParallelism()}: one for each core)
  --only a,b    kinds of faults: ${KINDS.join(', ')}
  --keep DIR    where logs and data of rounds are kept in which something was lost (default: a new temporary folder)
  --write       writes the result into docs/reliability.md
  --help        this

Exit codes: 0 nothing was lost, 1 something was, 2 the options are wrong.
`;

interface Options {
  readonly minutes: number;
  readonly kills: number;
  readonly seed: number;
  readonly round: number | null;
  readonly lanes: number;
  readonly only: readonly Kind[];
  readonly keep: string | null;
  readonly write: boolean;
}

class WrongOptions extends Error {}

function whole(name: string, text: string | undefined, absent: number): number {
  if (text === undefined) return absent;
  const found = Number(text);
  if (!/^\d+$/.test(text) || found < 1) throw new WrongOptions(`--${name} takes a whole number above 0.`);
  return found;
}

function readOptions(): Options | 'help' {
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(
        ['minutes', 'kills', 'seed', 'round', 'lanes', 'only', 'keep'].map(
          (name) => [name, { type: 'string' }] as const,
        ),
      ),
      write: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const text = values as Readonly<Record<string, string | undefined>>;
  if (values.help) return 'help';
  const only = text.only?.split(',').map((one) => one.trim()) ?? KINDS;
  const unknown = only.find((one) => !KINDS.some((kind) => kind === one));
  if (unknown !== undefined)
    throw new WrongOptions(`--only: there is no kind \`${unknown}\`; there are ${KINDS.join(', ')}.`);
  return {
    minutes: whole('minutes', text.minutes, 5),
    kills: whole('kills', text.kills, Number.POSITIVE_INFINITY),
    seed: whole('seed', text.seed, Date.now() % 1_000_000),
    round: text.round === undefined ? null : whole('round', text.round, 1),
    lanes: whole('lanes', text.lanes, availableParallelism()),
    only: only as readonly Kind[],
    keep: text.keep ?? null,
    write: values.write === true,
  };
}

/** Of all rounds. */
interface Tally {
  readonly faults: Map<Kind, number>;
  readonly missed: Map<Kind, number>;
  rounds: number;
  runs: number;
  readonly lost: { readonly round: number; readonly what: readonly string[]; readonly kept: string }[];
}

const count = (all: Map<Kind, number>, kind: Kind): void => void all.set(kind, (all.get(kind) ?? 0) + 1);
const killsOf = ({ faults }: Tally): number =>
  [...faults].reduce((sum, [kind, n]) => sum + (KILLS.has(kind) ? n : 0), 0);
const told = (all: ReadonlyMap<Kind, number>): string =>
  [...all].map(([kind, n]) => `${kind} ${n}`).join(', ') || 'none';

const say = (line: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

const ROUND = fileURLToPath(new URL('round.ts', import.meta.url));
/** Milliseconds for one round, from its start: its own patience ends long before. */
const MAX_MS = 900_000;

/** Null for anything else, as the rest of a line that was cut off. */
function newsOf(line: string): RoundNews | null {
  try {
    return line.startsWith('{"what"') ? (JSON.parse(line) as RoundNews) : null;
  } catch {
    return null;
  }
}

/** Plays one round in a process of its own. */
async function playRound(options: RoundOptions, tally: Tally, going: Set<ChildProcess>): Promise<void> {
  const child = spawn(process.execPath, [ROUND, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  going.add(child);
  let ended: Extract<RoundNews, { what: 'ends' }> | null = null;
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-2_000);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const one = newsOf(line);
    if (one === null) return;
    if (one.what === 'begins') say(`round ${options.round} begins (${one.setting})`);
    else if (one.what === 'missed') count(tally.missed, one.kind);
    else if (one.what === 'ends') ended = one;
    else {
      count(tally.faults, one.kind);
      say(`round ${options.round}: ${one.kind}: ${one.detail} [${killsOf(tally)} kills]`);
    }
  });
  const late = setTimeout(() => child.kill('SIGKILL'), MAX_MS);
  await once(child, 'close');
  clearTimeout(late);
  if (!going.delete(child)) return;
  settle(
    options,
    tally,
    ended ?? {
      what: 'ends',
      runs: 0,
      lost: [`The round ended with ${child.signalCode ?? child.exitCode}. ${errors}`],
    },
  );
}

function settle(
  { round, keepAt }: RoundOptions,
  tally: Tally,
  { runs, lost }: Extract<RoundNews, { what: 'ends' }>,
): void {
  tally.rounds += 1;
  tally.runs += runs;
  if (lost.length === 0) {
    say(
      `round ${round} holds: ${runs} runs; so far ${tally.rounds} rounds, ${told(tally.faults)}, ${tally.lost.length} failed`,
    );
    return;
  }
  tally.lost.push({ round, what: lost, kept: keepAt });
  say(`round ${round} FAILED; its logs and data: ${keepAt}`);
  for (const what of lost) say(`    ${what.slice(0, 600)}`);
}

async function playAll(options: Options, homes: string): Promise<Tally> {
  const tally: Tally = { faults: new Map(), missed: new Map(), rounds: 0, runs: 0, lost: [] };
  const { minutes, seed, only, kills } = options;
  // Beside the folder of this run, which is removed.
  const keep = options.keep ?? `${homes}-kept`;
  const until = Date.now() + minutes * 60_000;
  const going = new Set<ChildProcess>();
  let stopped = false;
  process.once('SIGINT', () => {
    say('Stopping: rounds that have begun are cut off.');
    stopped = true;
    for (const child of going) child.kill('SIGKILL');
    // Nothing is said of how they ended.
    going.clear();
  });
  const round = (number: number) =>
    playRound(
      {
        seed,
        round: number,
        only,
        furnished: join(homes, 'furnished', 'data'),
        keepAt: join(keep, `round-${number}`),
        until,
      },
      tally,
      going,
    );
  if (options.round !== null) await round(options.round);
  else {
    let next = 1;
    const lane = async (): Promise<void> => {
      while (!stopped && Date.now() < until && killsOf(tally) < kills) await round(next++);
    };
    await Promise.all(Array.from({ length: options.lanes }, lane));
  }
  return tally;
}

function report({ seed, minutes }: Options, tally: Tally, tookMs: number): Result {
  const kills = killsOf(tally);
  const result: Result = {
    at: new Date(),
    seed,
    minutes: tookMs / 60_000,
    rounds: tally.rounds,
    runs: tally.runs,
    kills,
    faults: tally.faults,
    lost: tally.lost,
  };
  const others = [...tally.faults.values()].reduce((sum, n) => sum + n, 0) - kills;
  say(
    `${kills} kills and ${others} other faults in ${tally.rounds} rounds of ${tally.runs} runs, ${result.minutes.toFixed(1)} minutes (${(kills / result.minutes).toFixed(1)} kills a minute; --minutes ${minutes} --seed ${seed})`,
  );
  say(`faults: ${told(tally.faults)}; nothing to do it to: ${told(tally.missed)}`);
  for (const { round, kept } of tally.lost)
    say(`round ${round} failed: ${kept}; again: npm run chaos -- --seed ${seed} --round ${round}`);
  if (tally.lost.length === 0) say('Nothing was lost, nothing doubled, nothing paid twice.');
  return result;
}

async function main(): Promise<number> {
  let options: Options | 'help';
  try {
    options = readOptions();
  } catch (thrown) {
    process.stderr.write(`${(thrown as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const homes = await mkdtemp(join(tmpdir(), 'runoff-soak-'));
  // Sandboxes and the database run as other users.
  await chmod(homes, 0o711);
  process.env.TMPDIR = homes;
  await mkdir(join(homes, 'furnished'));
  const began = performance.now();
  try {
    const disk = options.only.includes('disk') && (await mayMount());
    if (!disk && options.only.includes('disk'))
      say('disk: nothing may be mounted here, so no disk is filled.');
    const own = { ...options, only: options.only.filter((kind) => kind !== 'disk' || disk) };
    if (own.only.length === 0) return 2;
    const tally = await playAll(own, homes);
    const result = report(own, tally, performance.now() - began);
    if (options.write) await writeResult(result);
    return tally.lost.length === 0 ? 0 : 1;
  } finally {
    const ended = await endLeftOvers(homes);
    if (ended > 0) say(`${ended} processes of rounds that were cut off are ended.`);
    await endDatabases(homes);
    await unmountLeftOvers(homes);
    await rm(homes, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

process.exitCode = await main();
