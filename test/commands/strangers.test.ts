import { describe, expect, test } from 'vitest';
import { openCommandIntake } from '../../src/commands/index.ts';
import { parseCommand } from '../../src/core/commands/index.ts';
import { cpuMsSince } from '../world/cpu-time.ts';
import { ada, atWork, type CommandWorld, commandWorld, shown } from './command-world.ts';
import { mallory, mona } from './dialogue-world.ts';
import { down } from './fake-repository.ts';

const stateOf = async ({ store }: CommandWorld, id: string) => (await store.run(id))?.state;
const rowsOf = async ({ store }: CommandWorld, id: number) =>
  (await store.commands(42, 10_000)).filter(({ by }) => by.id === id);

/** Counts look-ups; those of people in `held` are not answered until they are let go. */
function watched(s: CommandWorld) {
  const asked: number[] = [];
  const held = new Map<number, Promise<void>>();
  const { github } = s.world;
  if (!github) throw new Error('A commandWorld has a GitHub.');
  Object.assign(s.world, {
    github: {
      ...github,
      reader: async (handle: Parameters<typeof github.reader>[0]) => {
        const reader = await github.reader(handle);
        return {
          ...reader,
          permission: async (user: Parameters<typeof reader.permission>[0]) => {
            asked.push(user.id);
            await held.get(user.id);
            return reader.permission(user);
          },
        };
      },
    },
  });
  return { asked, held };
}

/** A new comment, as GitHub's own word beside it has it. */
const hearFrom = (s: CommandWorld, body: string, id: number, association: string, by = mona) =>
  s.intake.onComment({
    place: s.placeAt(id),
    body,
    issue: s.repository.issue,
    at: s.now() + id,
    throughApp: false,
    association,
    actor: by,
  });

describe('the commands of people without write access', () => {
  test('(five hundred by one person) cost a few rows and one look-up', async () => {
    const s = commandWorld();
    await atWork(s);
    const { asked } = watched(s);
    const heard = [];
    for (let n = 0; n < 500; n += 1)
      heard.push(await hearFrom(s, '/auto-dev cancel', 5_000 + n, 'NONE', mallory));
    await s.intake.idle();
    expect((await rowsOf(s, mallory.id)).length).toBeLessThanOrEqual(20);
    expect(asked).toEqual([mallory.id]);
    expect(heard.filter(({ kind }) => kind === 'ignored').length).toBeGreaterThanOrEqual(480);
    expect((await s.say('/auto-dev cancel')).outcome).toBe('done');
  });

  test('(long ones, of which one person sends hundreds) are not read beyond the limit', async () => {
    const s = commandWorld();
    await atWork(s);
    const body = `/auto-dev answer ${'*_'.repeat(250)}`;
    const readTwenty = () => {
      const since = process.cpuUsage();
      for (let n = 0; n < 20; n += 1) parseCommand(body);
      return cpuMsSince(since);
    };
    // The first times are slower.
    readTwenty();
    const twenty = readTwenty();
    const before = process.cpuUsage();
    for (let n = 0; n < 500; n += 1) await hearFrom(s, body, 5_000 + n, 'NONE', mallory);
    await s.intake.idle();
    // At most twenty are stored, and read twice each.
    expect(cpuMsSince(before)).toBeLessThan(twenty * 7);
  });

  test('have a limit that does not apply to writers', async () => {
    const s = commandWorld();
    await atWork(s);
    for (let n = 0; n < 15; n += 1) await hearFrom(s, '/auto-dev status', 5_000 + n, 'MEMBER');
    await s.intake.idle();
    for (let n = 15; n < 80; n += 1) await hearFrom(s, '/auto-dev status', 5_000 + n, 'MEMBER');
    await s.intake.idle();
    expect(await rowsOf(s, mona.id)).toHaveLength(80);
  });

  test('are rejected for a minute per person and repository, then checked again', async () => {
    const s = commandWorld();
    await atWork(s);
    const { asked } = watched(s);
    expect((await s.say('/auto-dev status', { by: mallory })).outcome).toBe('ignored');
    s.repository.rights[mallory.id] = 'write';
    expect((await s.say('/auto-dev status', { by: mallory })).outcome).toBeNull();
    const place = { ...s.placeAt(4_000), repositoryId: 43, name: 'other' };
    s.other.rights[mallory.id] = 'write';
    const body = '/auto-dev status';
    const { issue } = s.repository;
    await s.intake.onComment({ place, body, issue, at: s.now(), throughApp: false, actor: mallory });
    await s.intake.idle();
    expect((await s.store.command('comment:4000'))?.outcome?.kind).toBe('done');
    expect(await s.say('/auto-dev status', { by: { ...mallory, id: ada.id } })).toMatchObject({
      outcome: 'done',
    });
    s.later(60_000);
    const before = asked.length;
    expect((await s.say('/auto-dev status', { by: mallory })).outcome).toBe('done');
    expect(asked.length).toBeGreaterThan(before);
  });

  test('are rejected at once after access is lost, because a grant is never remembered', async () => {
    const s = commandWorld();
    await atWork(s);
    expect((await s.say('/auto-dev status')).outcome).toBe('done');
    s.repository.rights[mona.id] = 'read';
    expect((await s.say('/auto-dev cancel')).outcome).toBe('ignored');
  });

  test('are applied once GitHub confirms access', async () => {
    const s = commandWorld();
    await atWork(s);
    s.repository.trouble.set('permission', down);
    expect((await s.say('/auto-dev status')).outcome).toBe('open');
    s.repository.trouble.clear();
    await s.recover();
    expect((await rowsOf(s, mona.id)).map(({ outcome }) => outcome?.kind)).toEqual(['done']);
  });
});

describe('the order of commands', () => {
  test.each(['MEMBER', 'NONE'])(
    'lets a cancel pass strangers whose access check is slow (its sender: %s)',
    async (association) => {
      const s = commandWorld();
      const run = await atWork(s);
      const { held } = watched(s);
      if (association === 'NONE') {
        // A private member: known to be a writer since the last command.
        expect((await s.say('/auto-dev status')).outcome).toBe('done');
      }
      const answer = Promise.withResolvers<void>();
      for (let n = 0; n < 200; n += 1) {
        held.set(900_000 + n, answer.promise);
        await hearFrom(s, '/auto-dev cancel', 5_000 + n, 'NONE', {
          id: 900_000 + n,
          login: `x${n}`,
          isBot: false,
        });
      }
      await hearFrom(s, '/auto-dev cancel', 7_000, association);
      await expect.poll(() => stateOf(s, run)).toBe('cancelled');
      answer.resolve();
      await s.intake.idle();
      expect(await s.store.unsettledCommands()).toEqual([]);
    },
  );

  test('lets a cancel pass a long command', async () => {
    const s = commandWorld();
    await shown(s, 'pull');
    const run = await atWork(s, { id: 'r0000000077' });
    const pushed = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const { push } = s.world.workspaces;
    s.world.workspaces.push = async (...given) => {
      began.resolve();
      await pushed.promise;
      return push(...given);
    };
    await s.hear('/auto-dev pick C', { on: 11 });
    await began.promise;
    await s.hear('/auto-dev cancel', { on: 7 });
    await expect.poll(() => stateOf(s, run)).toBe('cancelled');
    expect((await s.store.unsettledCommands()).map(({ text }) => text)).toEqual(['/auto-dev pick C']);
    pushed.resolve();
    await s.intake.idle();
    expect(await s.store.unsettledCommands()).toEqual([]);
  });

  test('starts a run that was requested before a cancel first, and cancels it', async () => {
    const s = commandWorld();
    const answer = Promise.withResolvers<void>();
    const { held } = watched(s);
    expect((await s.say('/auto-dev status', { by: ada })).outcome).toBe('done');
    expect((await s.say('/auto-dev status')).outcome).toBe('done');
    held.set(ada.id, answer.promise);
    // Ada's command is being looked at and takes long; what mona wants waits behind it, but for the cancel.
    await s.hear('/auto-dev help', { by: ada });
    await s.hear('/auto-dev run');
    await s.hear('/auto-dev cancel');
    await expect.poll(() => s.engine.started.length).toBe(1);
    const [run = ''] = s.engine.started;
    await expect.poll(() => stateOf(s, run)).toBe('cancelled');
    answer.resolve();
    await s.intake.idle();
    expect((await rowsOf(s, mona.id)).map(({ outcome }) => outcome?.kind)).toEqual(['done', 'done', 'done']);
  });

  test('keeps a run that was requested after a cancel', async () => {
    const s = commandWorld();
    const first = await atWork(s);
    const answer = Promise.withResolvers<void>();
    const { held } = watched(s);
    expect((await s.say('/auto-dev status')).outcome).toBe('done');
    held.set(mona.id, answer.promise);
    await s.hear('/auto-dev cancel');
    await s.hear('/auto-dev run');
    answer.resolve();
    await s.intake.idle();
    expect(await stateOf(s, first)).toBe('cancelled');
    expect(s.engine.started).toHaveLength(1);
    expect(await stateOf(s, s.engine.started[0] ?? '')).toBe('queued');
  });

  test('lets a writer pass strangers also after a crash', async () => {
    const s = commandWorld();
    const run = await atWork(s);
    s.repository.trouble.set('permission', down);
    for (let n = 0; n < 30; n += 1) {
      const stranger = { id: 900_000 + n, login: `x${n}`, isBot: false };
      await hearFrom(s, '/auto-dev cancel', 5_000 + n, 'NONE', stranger);
    }
    await hearFrom(s, '/auto-dev cancel', 7_000, 'MEMBER');
    await s.intake.idle();
    s.repository.trouble.clear();
    const { held } = watched(s);
    const answer = Promise.withResolvers<void>();
    for (let n = 0; n < 30; n += 1) held.set(900_000 + n, answer.promise);
    const fresh = openCommandIntake(s.world);
    await fresh.recover();
    await expect.poll(() => stateOf(s, run)).toBe('cancelled');
    answer.resolve();
    await fresh.idle();
    expect(await s.store.unsettledCommands()).toEqual([]);
  });
});
