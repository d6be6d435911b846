import { expect, test } from 'vitest';
import { memoryStore } from '../world/memory-store.ts';
import { shellOver } from './shell.ts';

const AT = Date.UTC(2026, 0, 2, 12);

async function typed(...argv: string[]): Promise<string> {
  const store = memoryStore();
  const write = { kind: 'write', what: 'comment', repository: 'acme/shop', thread: 7 } as const;
  await store.audit({ ...write, outcome: 'done' }, { at: AT, run: 'r1' });
  await store.audit(
    { ...write, what: 'open-pull', outcome: 'failed', status: 502 },
    { at: AT + 1000, run: 'r2' },
  );
  const outcome = { kind: 'ignored', why: 'the author has no write access to the repository' } as const;
  const by = { id: 9, login: 'mallory\u001b[2J' };
  const text = '/auto-dev cancel\nplease';
  await store.audit(
    { kind: 'command', command: 'comment:1', by, token: '0123456789ab', text, thread: 7, outcome },
    { at: AT + 2000 },
  );
  const cause = 'the label was taken off';
  await store.audit(
    { kind: 'transition', from: 'coded', to: 'cancelled', cause },
    { at: AT + 3000, run: 'r1' },
  );
  const { type, out, err } = shellOver({ store });
  expect(await type('audit', ...argv)).toBe(0);
  expect(err()).toBe('');
  return out();
}

test('the audit is read in the order in which things happened, and no name can move the cursor', async () => {
  const said = await typed();
  expect(said).not.toContain('\u001b');
  expect(said.replaceAll(/mallory\S*/g, 'mallory')).toMatchInlineSnapshot(`
    "2026-01-02 12:00:00 UTC  r1           write    comment acme/shop#7
    2026-01-02 12:00:01 UTC  r2           write    open-pull acme/shop#7 (failed, 502)
    2026-01-02 12:00:02 UTC  -            command  mallory by token 0123456789ab on #7: /auto-dev cancel (ignored: the author has no write access to the repository)
    2026-01-02 12:00:03 UTC  r1           change   coded → cancelled: the label was taken off
    "
  `);
});

test('the newest rows of one run are printed as JSON', async () => {
  const rows = JSON.parse(await typed('--run', 'r1', '--limit', '1', '--json')) as readonly object[];
  expect(rows).toMatchObject([
    { run: 'r1', at: '2026-01-02T12:00:03.000Z', entry: { kind: 'transition', to: 'cancelled' } },
  ]);
});

test('a run that is not there gives exit code 2', async () => {
  const { type, out, err } = shellOver({ store: memoryStore() });
  expect(await type('audit', '--run', 'r9')).toBe(2);
  expect(out()).toBe('');
  expect(err()).toContain('There is no run r9 in this database.');
});
