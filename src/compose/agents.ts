import { AGENTS, coders, installAgent, installable } from '../adapters/coders/index.ts';
import { ownFolder } from '../adapters/sandbox/index.ts';
import { asFault, counted } from '../core/model/index.ts';
import { type AgentCommand, type Operator, PROVIDERS, suggest } from '../core/settings/index.ts';
import type { Coder, Gateway, Offer, Sandbox } from '../ports/index.ts';
import type { AgentRow, Agents, DoctorFinding } from '../shell.ts';
import { agentsFolder, openDataFolder } from './data-folder.ts';
import { ownSetUp } from './installation.ts';
import { gatewayWithoutDatabase } from './local.ts';
import { ownerOf, tryInSandbox } from './sandbox.ts';

/** All coders that settings can name on this machine. */
export const codersOf = (operator: Operator): ReadonlyMap<string, Coder> =>
  coders({ agentsFolder: agentsFolder(operator), commands: operator.agentCommands });

/** The agents for `runoff agents`. Each command reads the operator's settings itself. */
export function agentsOf(read: () => Promise<Operator>): Agents {
  return {
    async list() {
      const operator = await read();
      return Promise.all([...codersOf(operator).values()].map((coder) => rowOf(coder, operator)));
    },
    check({ name, version }) {
      installable(name, version);
    },
    async install(request) {
      const operator = await read();
      await openDataFolder(operator.data, ownerOf(operator));
      const folder = agentsFolder(operator);
      return {
        ...(await installAgent({ folder, newFolder: () => ownFolder(folder, 'agent'), ...request })),
        folder,
      };
    },
  };
}

async function rowOf(coder: Coder, operator: Operator): Promise<AgentRow> {
  const { name, protocols, experimental } = coder;
  const own = operatorsOwn(operator, name);
  const tested = (!own && AGENTS.find((agent) => agent.name === name)?.tested) || null;
  const installed = await coder.version();
  return {
    name,
    from: own ? 'operator' : tested === null ? 'runoff' : 'npm',
    installed,
    tested,
    missingFolder: installed === null ? (own?.folder ?? null) : null,
    protocols,
    experimental,
  };
}

/** The entry of AGENT_COMMANDS for a coder. */
const operatorsOwn = ({ agentCommands }: Operator, name: string): AgentCommand | undefined =>
  Object.hasOwn(agentCommands, name) ? agentCommands[name] : undefined;

/**
 * Milliseconds until the start of an agent counts as failed: the slowest one takes five seconds on a busy machine. Our
 * default.
 */
const TRIAL_MS = 60_000;

/** Which agents are installed, and whether each one starts in a sandbox. `sandbox` is null if that cannot be tried. */
export async function agentFindings(
  operator: Operator,
  sandbox: Sandbox | null,
): Promise<readonly DoctorFinding[]> {
  const findings: DoctorFinding[] = shadowingFindings(operator);
  const missing: string[] = [];
  for (const coder of codersOf(operator).values()) {
    const version = await coder.version();
    const own = operatorsOwn(operator, coder.name);
    if (version !== null) findings.push(await agentFinding(operator, sandbox, coder, version));
    else if (own) findings.push(missingFolder(coder.name, own));
    else missing.push(coder.name);
  }
  return missing.length === 0 ? findings : [...findings, notInstalled(missing)];
}

/** Warns if an operator's command replaces a built-in coder, which may be an accident. */
function shadowingFindings(operator: Operator): DoctorFinding[] {
  const ours = coders({ agentsFolder: agentsFolder(operator), commands: {} });
  const hiding = Object.keys(operator.agentCommands).filter((name) => ours.has(name));
  return hiding.map((name) => ({
    name: `coder ${name}`,
    state: 'warning',
    detail: `AGENT_COMMANDS names a program ${name}: it takes the place of Runoff's own`,
    remedy: `Unless that is meant, give it another name in AGENT_COMMANDS, such as my-${name}.`,
  }));
}

const missingFolder = (name: string, { folder = '' }: AgentCommand): DoctorFinding => ({
  name: `coder ${name}`,
  state: 'warning',
  detail: `its folder ${folder} is missing`,
  remedy: `Put the program there, or correct \`folder\` of ${name} in AGENT_COMMANDS.`,
});

const notInstalled = (names: readonly string[]): DoctorFinding => ({
  name: 'other coders',
  state: 'warning',
  detail: `not installed: ${names.join(', ')}`,
  remedy: `Only for those you want to use: runoff agents install ${names[0] ?? ''}`,
});

async function agentFinding(
  operator: Operator,
  sandbox: Sandbox | null,
  coder: Coder,
  version: string,
): Promise<DoctorFinding> {
  const name = `coder ${coder.name}`;
  const speaks = `${version}, speaks ${coder.protocols.join(', ')}${coder.experimental ? ' (experimental)' : ''}`;
  const trial = coder.trial();
  if (!trial || !sandbox) return { name, state: 'ok', detail: speaks };
  const result = await tryInSandbox(operator, sandbox, { ...trial, wallMs: TRIAL_MS });
  if (result.exitCode === 0) return { name, state: 'ok', detail: `${speaks}; starts in a sandbox` };
  const lastLine = (result.stderr || result.stdout).trim().split('\n').at(-1)?.slice(0, 200) ?? '';
  return {
    name,
    state: 'fault',
    detail:
      `${version} does not start in a sandbox: ${result.stopped ?? `exit code ${result.exitCode ?? 'none'}`} ${lastLine}`.trim(),
    remedy: AGENTS.some((agent) => agent.name === coder.name)
      ? `runoff agents install ${coder.name}`
      : `It is part of Runoff. ${ownSetUp()}`,
  };
}

/** Whether each provider with a key answers, and whether each model of MULTI_AGENT_MODELS can be used. */
export async function modelFindings(operator: Operator): Promise<readonly DoctorFinding[]> {
  if (Object.keys(operator.models).length === 0) return [noKeys];
  const gateway = gatewayWithoutDatabase(operator);
  try {
    const offers = await gateway.offers();
    return [
      ...offers.map((offer) => providerFinding(operator, offer)),
      ...operator.multiAgent.models.flatMap((name) => namedModelFinding(gateway, offers, name) ?? []),
    ];
  } finally {
    await gateway.close();
  }
}

const noKeys: DoctorFinding = {
  name: 'model keys',
  state: 'warning',
  detail: 'none is set: no coder can run; `prepare`, `select`, `arena mine` and `ui` need none',
  remedy:
    "Set one provider's key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY; docs/configuration.md lists them all.",
};

function providerFinding({ models, max }: Operator, offer: Offer): DoctorFinding {
  const { keyVariable } = PROVIDERS[offer.provider as keyof typeof PROVIDERS];
  const where = models[offer.provider]?.custom ? ' (own address)' : '';
  const name = `provider ${offer.provider}`;
  if (offer.kind === 'failed') {
    return {
      name,
      state: 'fault',
      detail: `${keyVariable}${where} is set, but ${offer.provider} listed no models: ${offer.why}`,
      remedy: `If it refused the key, set ${keyVariable} to a valid one, or unset it. If it did not answer, check its address, and whether this machine reaches it.`,
    };
  }
  const detail = `${keyVariable}${where}: ${counted(offer.models.length, 'model')}`;
  const [first] = offer.models;
  if (!first || max.tokensCandidate !== undefined || offer.models.some(({ price }) => price !== null))
    return { name, state: 'ok', detail };
  const example = JSON.stringify({ [`${offer.provider}/${first.id}`]: { input: 0.5, output: 1.5 } });
  return {
    name,
    state: 'warning',
    detail: `${detail}, none with a known price, so no run can use them`,
    remedy: `Set MODEL_PRICES, in US dollars per million tokens, such as ${example}, or limit runs by tokens (MAX_TOKENS_CANDIDATE and \`budget.tokens\`).`,
  };
}

/** Null if the model can be used. */
function namedModelFinding(
  gateway: Pick<Gateway, 'route'>,
  offers: readonly Offer[],
  model: string,
): DoctorFinding | null {
  const finding = (detail: string, remedy: string): DoctorFinding => ({
    name: `model ${model}`,
    state: 'fault',
    detail: `MULTI_AGENT_MODELS: ${detail}`,
    remedy,
  });
  try {
    gateway.route(model);
  } catch (thrown) {
    const { message, advice } = asFault(thrown);
    return finding(message, advice);
  }
  const offer = offers.find(({ provider }) => model.startsWith(`${provider}/`));
  if (offer?.kind !== 'models') return null;
  const ids = offer.models.map(({ id }) => id);
  const own = model.slice(offer.provider.length + 1);
  if (ids.includes(own)) return null;
  const meant = suggest(own, ids);
  return finding(
    `${offer.provider} does not list ${own}.${meant ? ` Did you mean ${offer.provider}/${meant}?` : ''}`,
    'Run `runoff models` for the names that this key may use.',
  );
}
