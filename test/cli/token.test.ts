import { expect, test } from 'vitest';
import { systemRandom } from '../../src/adapters/system/index.ts';
import type { Permission } from '../../src/ports/index.ts';
import { memoryStore } from '../world/memory-store.ts';
import { clockAt } from '../world/stand-ins.ts';
import { shellOver } from './shell.ts';

const NOON = Date.UTC(2026, 0, 2, 12);

/** The command line of an installation on acme/lists and acme/shop, where mona may write. */
function machine() {
  const store = memoryStore();
  const rights: Record<string, Permission> = { '42 5': 'write', '43 5': 'write' };
  const installed = [
    { installationId: 1, repositoryId: 42, owner: 'acme', name: 'lists', installedAt: 0 },
    { installationId: 1, repositoryId: 43, owner: 'acme', name: 'shop', installedAt: 0 },
  ];
  const github = {
    repositories: async () => installed,
    people: {
      byLogin: async (login: string) =>
        ({ mona: { id: 5, login: 'mona' }, tess: { id: 6, login: 'tess' } })[login] ?? null,
    },
    reader: async ({ repositoryId }: { repositoryId: number }) => ({
      permission: async ({ id }: { id: number }) => rights[`${repositoryId} ${id}`] ?? 'read',
    }),
  };
  const type = async (...argv: string[]) => {
    const cli = shellOver({ store, github, clock: clockAt(() => NOON), random: systemRandom } as never);
    const code = await cli.type('token', ...argv);
    return { code, out: cli.out(), err: cli.err() };
  };
  return { store, rights, type };
}
const LISTS = ['--repo', 'acme/lists', '--name', 'nightly'];

test('a token is made, shown once, listed without its text, and revoked', async () => {
  const { store, type } = machine();
  const made = await type(
    'create',
    '--for',
    'mona',
    '--repo',
    'Acme/Lists,acme/shop',
    '--name',
    'nightly',
    '--allow',
    'read,run',
    '--expires',
    '30d',
  );
  expect(made.code).toBe(0);
  expect(made.out).toMatch(/^runoff_pat_[0-9a-f]{72}\n$/);
  expect(made.err).toContain('acts for mona until 2026-02-01');
  const text = made.out.trim();
  const token = await store.tokenOf(text);
  expect(token).toMatchObject({
    by: { id: 5, login: 'mona' },
    repositories: [{ repositoryId: 42, owner: 'acme', name: 'lists' }, { repositoryId: 43 }],
    verbs: ['read', 'run'],
    expiresAt: NOON + 30 * 86_400_000,
  });
  const id = token?.id ?? '';
  const listed = await type('list');
  expect(listed.out).toBe(
    `${id}  until 2026-02-01  never used       read,run      mona on acme/lists, acme/shop: nightly\n`,
  );
  expect(JSON.stringify([listed, await type('list', '--json')])).not.toContain(text.slice(30));
  expect(await type('revoke', id)).toMatchObject({ code: 0, out: `Token ${id} is revoked.\n` });
  expect(await type('revoke', id)).toMatchObject({
    code: 2,
    err: expect.stringContaining('already revoked'),
  });
  const other = JSON.parse((await type('create', '--for', 'mona', ...LISTS, '--json')).out) as { id: string };
  const revoked = JSON.parse((await type('revoke', other.id, '--json')).out) as unknown;
  expect(revoked).toEqual({ token: other.id, revoked: true });
  expect((await type('list')).out).toContain('revoked');
  expect((await store.audited({ limit: 9 })).map(({ entry }) => entry).slice(2)).toEqual([
    { kind: 'token', what: 'revoked', token: id, by: null },
    { kind: 'token', what: 'created', token: id, by: { id: 5, login: 'mona' } },
  ]);
});

test('without further options a token reads for 90 days', async () => {
  const { store, type } = machine();
  const { out } = await type('create', '--for', 'mona', ...LISTS, '--json');
  const { text, ...shown } = JSON.parse(out) as { text: string };
  expect(await store.tokenOf(text)).toEqual(shown);
  expect(shown).toMatchObject({ verbs: ['read'], expiresAt: NOON + 90 * 86_400_000 });
});

test.each([
  ['nobody', ['--for', 'nobody', ...LISTS], 'GitHub knows nobody with the login nobody.'],
  ['a reader', ['--for', 'tess', ...LISTS], 'tess has no write access to acme/lists.'],
  [
    'another repository',
    ['--for', 'mona', '--repo', 'acme/none', '--name', 'x'],
    'The App is not installed on acme/none',
  ],
  [
    'a writer of only one',
    ['--for', 'mona', '--repo', 'acme/lists,acme/shop', '--name', 'x'],
    'no write access to acme/shop',
  ],
  ['no name', ['--for', 'mona', '--repo', 'acme/lists', '--name', ' '], 'Name the token'],
  ['a longer life', ['--for', 'mona', ...LISTS, '--expires', '366d'], 'Give a number of days from 1 to 365.'],
  ['another verb', ['--for', 'mona', ...LISTS, '--allow', 'read,merge'], 'Give read, run, act'],
  ['no repository', ['--for', 'mona', '--name', 'x', '--repo', ','], 'Name at least one repository.'],
])('none is made for %s', async (_what, argv, why) => {
  const { store, rights, type } = machine();
  rights['43 5'] = 'read';
  const refused = await type('create', ...argv);
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining(why) });
  expect(await store.tokens({ limit: 9 })).toEqual([]);
});
