import { resolve } from 'node:path';
import { Fault } from '../core/model/index.ts';
import type { Offer } from '../ports/index.ts';
import { type AgentRow, type DoctorFinding, EXIT, type InstallRequest, type Shell } from '../shell.ts';
import { jsonText, shown } from './render/index.ts';

/** `runoff agents`: every coder that settings can name, and which of them are installed. */
export async function listAgents(shell: Pick<Shell, 'agents' | 'screen'>, json: boolean): Promise<number> {
  const rows = await shell.agents.list();
  shell.screen.out(json ? `${jsonText({ agents: rows })}\n` : table(rows));
  return EXIT.done;
}

function table(rows: readonly AgentRow[]): string {
  const cells = rows.map((row) => [row.name, stateOf(row), speaks(row)] as const);
  const width = (column: 0 | 1) => Math.max(...cells.map((cell) => cell[column].length));
  const [names, states] = [width(0), width(1)];
  const lines = cells.map(
    ([name, state, words]) => `${name.padEnd(names)}  ${state.padEnd(states)}  ${words}`,
  );
  return `${[...lines, '', nextStep(rows)].join('\n')}\n`;
}

function nextStep(rows: readonly AgentRow[]): string {
  const ready = rows.filter(({ from, installed }) => from !== 'runoff' && installed !== null);
  const missing = rows.find(({ from, installed }) => from === 'npm' && installed === null);
  if (ready.length === 0 && missing) return `Next: runoff agents install ${missing.name}`;
  const names = ['builtin', ...ready.map(({ name }) => name)].slice(0, 3);
  return `Next: list the ones to use under \`coders:\` in .github/auto-dev.yml or with --coders ${names.join(',')}`;
}

function stateOf({ installed, tested, missingFolder }: AgentRow): string {
  if (missingFolder !== null) return `folder ${shown(missingFolder, 200)} is missing`;
  if (installed === null) return 'not installed';
  return tested !== null && installed !== tested
    ? `${shown(installed, 40)} (tested: ${tested})`
    : shown(installed, 40);
}

const speaks = ({ protocols, experimental }: AgentRow): string =>
  `speaks ${protocols.join(', ')}${experimental ? '; experimental' : ''}`;

/** Seconds between two progress lines: npm prints nothing while it downloads. Our default. */
const SIGN_SECONDS = 10;

/**
 * `runoff agents install NAME[@VERSION]…`: installs them one after another and stops at the first failure. If one name
 * is invalid, none is installed.
 */
export async function installAgents(
  shell: Pick<Shell, 'agents' | 'screen' | 'onInterrupt'>,
  texts: readonly string[],
  json: boolean,
): Promise<number> {
  const { screen, agents } = shell;
  const specs = texts.map(packageSpecOf);
  for (const spec of specs) agents.check(spec);
  const stop = new AbortController();
  const deaf = shell.onInterrupt(() => stop.abort());
  const done: { name: string; version: string; folder: string; bytes: number }[] = [];
  try {
    for (const spec of specs) {
      const { name } = spec;
      const say = (line: string) => screen.err(`${name}: ${line}\n`);
      say('installing …');
      const onLine = (line: string) => say(shown(line, 200));
      const request = { ...spec, onLine, signal: stop.signal };
      const installed = await withProgress(say, () => agents.install(request));
      done.push({ name, ...installed });
      if (!json)
        screen.out(
          `Installed ${name} ${installed.version} in ${installed.folder} (${megabytes(installed.bytes)}).\n`,
        );
    }
  } catch (thrown) {
    if (stop.signal.aborted) return EXIT.stopped;
    throw thrown;
  } finally {
    deaf();
  }
  if (json) screen.out(`${jsonText({ installed: done })}\n`);
  else screen.out('Next: runoff doctor\n');
  return EXIT.done;
}

async function withProgress<T>(say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += SIGN_SECONDS;
    say(`still installing, ${seconds} s`);
  }, SIGN_SECONDS * 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const megabytes = (bytes: number): string => `${Math.max(1, Math.round(bytes / 1e6))} MB`;

function packageSpecOf(text: string): Pick<InstallRequest, 'name' | 'version'> {
  const [name = '', version, ...rest] = text.split('@');
  if (name === '' || version === '' || rest.length > 0)
    throw new Fault(
      'AGENT_UNKNOWN',
      `${JSON.stringify(text)} is not an agent name: write NAME or NAME@VERSION.`,
    );
  return { name, ...(version ? { version } : {}) };
}

/** `runoff models`: the models of all providers whose keys are set, with the prices that budgets use. */
export async function listModels(shell: Pick<Shell, 'open' | 'screen'>, json: boolean): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const offers = await world.gateway.offers();
    shell.screen.out(json ? `${jsonText({ offers })}\n` : modelLines(offers));
    return offers.length > 0 && offers.every(({ kind }) => kind === 'failed') ? EXIT.failed : EXIT.done;
  } finally {
    await close();
  }
}

function modelLines(offers: readonly Offer[]): string {
  if (offers.length === 0)
    return 'No model provider key is set.\nNext: set ANTHROPIC_API_KEY, OPENAI_API_KEY or another key in the environment or in the settings file that `runoff doctor` names\n';
  const blocks = offers.map((offer) => (offer.kind === 'failed' ? failureLine(offer) : modelList(offer)));
  return `${blocks.join('\n\n')}\n`;
}

const failureLine = ({ provider, why }: Extract<Offer, { kind: 'failed' }>): string =>
  `${provider}: request failed. ${shown(why, 300)}`;

function modelList({ provider, models }: Extract<Offer, { kind: 'models' }>): string {
  if (models.length === 0) return `${provider}: this key has no models.`;
  const names = models.map(({ id }) => shown(`${provider}/${id}`, 120));
  const width = Math.max(...names.map((name) => name.length));
  return models
    .map(({ price }, index) => {
      const cost = price ? `$${price.input} in, $${price.output} out per million tokens` : 'price unknown';
      return `${(names[index] ?? '').padEnd(width)}  ${cost}`;
    })
    .join('\n');
}

const FINDING_SIGNS = { ok: 'ok  ', warning: 'note', fault: 'FAIL' } as const;

/** `runoff doctor`: what works on this machine, and what to do about each problem. */
export async function examineMachine(
  shell: Shell,
  { json, repo }: { readonly json?: boolean; readonly repo?: string },
): Promise<number> {
  const findings = await shell.doctor(repo === undefined ? undefined : resolve(shell.cwd, repo));
  const faults = findings.filter((finding) => finding.state === 'fault');
  shell.screen.out(json ? `${jsonText({ findings })}\n` : findingLines(findings, faults.length));
  return faults.length === 0 ? EXIT.done : EXIT.failed;
}

function findingLines(findings: readonly DoctorFinding[], faults: number): string {
  const width = Math.max(...findings.map((finding) => finding.name.length));
  const lines = findings.flatMap((finding) => [
    `${FINDING_SIGNS[finding.state]}  ${finding.name.padEnd(width)}  ${finding.detail}`,
    ...(finding.remedy ? [`      ${' '.repeat(width)}  → ${finding.remedy}`] : []),
  ]);
  const hasProvider = findings.some(({ name, state }) => state === 'ok' && name.startsWith('provider '));
  const last =
    faults === 0
      ? `Runoff can run here. Next: ${hasProvider ? 'runoff run "Fix the …"' : 'runoff demo'}`
      : `Fix ${faults} ${faults === 1 ? 'problem' : 'problems'} before Runoff can run here.`;
  return `${[...lines, '', last].join('\n')}\n`;
}
