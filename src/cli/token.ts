import { type Command, InvalidArgumentError, Option } from 'commander';
import { makeToken, revokeToken } from '../commands/index.ts';
import { Fault, fullNameOf } from '../core/model/index.ts';
import { type ApiToken, TOKEN_DAYS, TOKEN_VERBS, type TokenVerb, tokenState } from '../core/tokens/index.ts';
import type { Store } from '../ports/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { jsonOption, names } from './options.ts';
import { jsonText, shown } from './render/index.ts';

/** Tokens that are read from the database at a time. */
const TOKENS_AT_A_TIME = 1_000;

interface CreateFlags {
  readonly for: string;
  readonly repo: readonly string[];
  readonly allow: readonly TokenVerb[];
  readonly expires: number;
  readonly name: string;
  readonly json?: boolean;
}

/** `runoff token`: tokens of the API. */
export function addToken(program: Command, shell: Shell, done: (code: number) => void): void {
  const token = program.command('token').description('make, list and revoke tokens of the API (docs/api.md)');
  token
    .command('create')
    .description('make a token for a person with write access; it is shown once')
    .requiredOption('--for <login>', 'the person on GitHub that the token acts for')
    .requiredOption('--repo <names>', 'OWNER/NAME of each repository that it reaches, comma-separated', names)
    .requiredOption('--name <text>', 'what uses the token, for lists')
    .addOption(
      new Option('--allow <verbs>', `what it may be used for: ${TOKEN_VERBS.join(', ')}`)
        .argParser(verbs)
        .default(['read'], 'read'),
    )
    .addOption(
      new Option('--expires <days>', `days after which it expires, at most ${TOKEN_DAYS.most}`)
        .argParser(days)
        .default(TOKEN_DAYS.usual, `${TOKEN_DAYS.usual}`),
    )
    .addOption(jsonOption())
    .action(async (flags: CreateFlags) => done(await create(shell, flags)));
  token
    .command('list')
    .description('list the tokens, with their last use')
    .addOption(jsonOption())
    .action(async ({ json = false }: { json?: boolean }) => done(await list(shell, json)));
  token
    .command('revoke')
    .description('revoke a token immediately; this cannot be undone')
    .argument('<id>', 'id of the token, as `runoff token list` shows it')
    .addOption(jsonOption())
    .action(async (id: string, { json = false }: { json?: boolean }) => done(await revoke(shell, id, json)));
}

const verbs = (text: string): readonly TokenVerb[] =>
  [...new Set(names(text))].map((name) => {
    const verb = TOKEN_VERBS.find((one) => one === name);
    if (!verb) throw new InvalidArgumentError(`Give ${TOKEN_VERBS.join(', ')}, comma-separated.`);
    return verb;
  });

const days = (text: string): number => {
  const found = /^([1-9]\d{0,2})d?$/.exec(text)?.[1];
  if (found === undefined || Number(found) > TOKEN_DAYS.most)
    throw new InvalidArgumentError(`Give a number of days from 1 to ${TOKEN_DAYS.most}.`);
  return Number(found);
};

async function create(shell: Shell, flags: CreateFlags): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader', github: true });
  try {
    const made = await makeToken(world, {
      login: flags.for,
      repositories: flags.repo,
      verbs: flags.allow,
      days: flags.expires,
      name: flags.name,
    });
    if (made.kind === 'refused') throw new Fault('TOKEN_REFUSED', made.why);
    const { token, text } = made;
    if (flags.json) shell.screen.out(`${jsonText({ ...token, text })}\n`);
    else {
      // The token alone on standard output, so that it can go into a file or a variable unseen.
      shell.screen.err(
        `Token ${token.id} acts for ${shown(token.by.login)} until ${dayOf(token.expiresAt)}. It is shown only now:\n`,
      );
      shell.screen.out(`${text}\n`);
    }
    return EXIT.done;
  } finally {
    await close();
  }
}

async function list(shell: Shell, json: boolean): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const tokens = await allTokens(world);
    const now = world.clock.now();
    if (json)
      shell.screen.out(`${jsonText(tokens.map((one) => ({ ...one, state: tokenState(one, now) })))}\n`);
    else if (tokens.length === 0)
      shell.screen.out('There are no tokens. Make one: runoff token create --help\n');
    else shell.screen.out(`${tokens.map((one) => tokenLine(one, now)).join('\n')}\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}

/** Each of them: what is not listed is not revoked either. */
async function allTokens({ store }: { readonly store: Pick<Store, 'tokens'> }): Promise<readonly ApiToken[]> {
  const found: ApiToken[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await store.tokens({ limit: TOKENS_AT_A_TIME, ...(after ? { after } : {}) });
    found.push(...page);
    if (page.length < TOKENS_AT_A_TIME) return found;
  }
}

function tokenLine(token: ApiToken, now: number): string {
  const { id, by, verbs: allowed, repositories, name, expiresAt, lastUsedAt } = token;
  const state = tokenState(token, now);
  const used = lastUsedAt === undefined ? 'never used' : `used ${dayOf(lastUsedAt)}`;
  const ends = state === 'valid' ? `until ${dayOf(expiresAt)}` : state;
  const places = repositories.map(fullNameOf).join(', ');
  return [
    id,
    ends.padEnd(16),
    used.padEnd(15),
    allowed.join(',').padEnd(12),
    shown(`${by.login} on ${places}: ${name}`),
  ].join('  ');
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

async function revoke(shell: Shell, id: string, json: boolean): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    if (!(await revokeToken(world, id)))
      throw new Fault('TOKEN_REFUSED', `Token ${JSON.stringify(id)} does not exist or is already revoked.`);
    shell.screen.out(json ? `${jsonText({ token: id, revoked: true })}\n` : `Token ${id} is revoked.\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}
