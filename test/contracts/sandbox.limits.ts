import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_LIMITS,
  type ExecSpec,
  type Limits,
  type Sandbox,
  type WorkArea,
} from '../../src/ports/index.ts';

export interface SandboxWorld {
  readonly sandbox: Sandbox;
  /** A new area whose lower layer holds some files. */
  area(files?: Readonly<Record<string, string>>): WorkArea;
  /** A new host folder that a sandbox may be given to write. */
  folder(): string;
  close(): void | Promise<void>;
}

export const limited = (limits: Partial<Limits> = {}): Limits => ({
  ...DEFAULT_LIMITS,
  wallMs: 60_000,
  ...limits,
});

/** How many host processes have `mark` in their command line. */
export function processesWith(mark: string): number {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });
  return lines.filter((line) => line.includes(mark)).length;
}

/** A duration nobody else sleeps for, to find a process by. */
export const markedSleep = (): string => `9${randomBytes(4).readUInt32LE()}`;

/** The part of the contract that is about limits and about what is left afterwards. */
export function sandboxLimits(world: () => SandboxWorld): void {
  const sh = (area: WorkArea, line: string, more: Partial<ExecSpec> = {}) =>
    world().sandbox.exec({ area, argv: ['sh', '-c', line], limits: limited(), ...more });

  // These mostly wait, so they wait together.
  describe.concurrent('limits of time', () => {
    test('end a command that ignores all signals', async () => {
      const line = 'trap "" TERM INT HUP QUIT; while :; do sleep 1; done';
      const result = await sh(world().area(), line, { limits: limited({ wallMs: 500 }) });
      expect(result).toMatchObject({ exitCode: null, stopped: 'wall' });
      expect(result.ms).toBeGreaterThanOrEqual(500);
    });

    test('count silence from the last output', async () => {
      const talks = 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done; sleep 600';
      const result = await sh(world().area(), talks, { limits: limited({ silenceMs: 2000 }) });
      expect(result).toMatchObject({ exitCode: null, stopped: 'silence', stdout: '1\n2\n3\n4\n5\n6\n' });
    });

    test('ask for an extension each time they are reached', async () => {
      const asked: string[] = [];
      const result = await sh(world().area(), 'sleep 60', {
        limits: limited({ wallMs: 300 }),
        onLimit: (limit) => (asked.push(limit) < 3 ? 300 : 0),
      });
      expect(result).toMatchObject({ exitCode: null, stopped: 'wall' });
      expect(asked).toEqual(['wall', 'wall', 'wall']);
      expect(result.ms).toBeGreaterThanOrEqual(900);
    });

    test('do not stop a command that ends in the time it was given', async () => {
      const result = await sh(world().area(), 'sleep 1; echo done', {
        limits: limited({ wallMs: 200 }),
        onLimit: () => 60_000,
      });
      expect(result).toMatchObject({ exitCode: 0, stopped: null, stdout: 'done\n' });
    });

    test('ask for an extension in silence, and restart at the next output', async () => {
      const asked: string[] = [];
      const line = 'sleep 2; echo one; sleep 600';
      const result = await sh(world().area(), line, {
        limits: limited({ silenceMs: 500 }),
        onLimit: (limit) => (asked.push(limit) === 1 ? 30_000 : 0),
      });
      expect(result).toMatchObject({ exitCode: null, stopped: 'silence', stdout: 'one\n' });
      expect(asked).toEqual(['silence', 'silence']);
    });

    test.each([Number.NaN, -1])('end the command when the answer is %s', async (answer) => {
      const result = await sh(world().area(), 'sleep 60', {
        limits: limited({ wallMs: 200 }),
        onLimit: () => answer,
      });
      expect(result).toMatchObject({ exitCode: null, stopped: 'wall' });
    });

    test('end the command when the question fails', async () => {
      const mark = markedSleep();
      const running = sh(world().area(), `sleep ${mark}`, {
        limits: limited({ wallMs: 200 }),
        onLimit: () => {
          throw new Error('the caller broke');
        },
      });
      await expect(running).rejects.toThrow('the caller broke');
      expect(processesWith(mark)).toBe(0);
    });
  });

  describe('limits', () => {
    test('hold for the memory of the whole tree', async () => {
      const hold = 'const b = Buffer.alloc(120e6, 1); setInterval(() => b[0], 1000)';
      const line = `for i in 1 2 3 4; do /opt/toolchain/bin/node -e '${hold}' & done; wait`;
      const result = await sh(world().area(), line, { limits: limited({ memoryBytes: 400e6 }) });
      expect(result).toMatchObject({ exitCode: null, stopped: 'memory' });
    });

    test.each(['/repo', '/home/agent'])('hold for disk use by %s', async (folder) => {
      const line = `mkdir ${folder}/d; i=0; while :; do head -c 4000000 /dev/zero > ${folder}/d/$i; i=$((i+1)); sleep 0.02; done`;
      const result = await sh(world().area(), line, { limits: limited({ diskBytes: 40e6 }) });
      expect(result).toMatchObject({ exitCode: null, stopped: 'disk' });
    });

    test('do not affect a command within them', async () => {
      const line = 'head -c 20000000 /dev/zero > big; sleep 1.5; echo fine';
      const tight = limited({ diskBytes: 60e6, memoryBytes: 300e6, silenceMs: 30_000, processes: 20 });
      expect(await sh(world().area(), line, { limits: tight })).toMatchObject({
        exitCode: 0,
        stdout: 'fine\n',
      });
    });

    test('hold for processes', async () => {
      const line = 'for i in $(seq 600); do sleep 30 & done; echo started all';
      const result = await sh(world().area(), line, { limits: limited({ processes: 30 }) });
      expect(result.stdout).not.toContain('started all');
      expect(result.stderr).toMatch(/fork/i);
    });
  });

  describe('the end of a command', () => {
    test('follows an abort, immediately if aborted before', async () => {
      const cancel = new AbortController();
      const mark = markedSleep();
      let abortedAt = Number.POSITIVE_INFINITY;
      const running = sh(world().area(), `echo up; sleep ${mark}`, {
        signal: cancel.signal,
        onLine: () => {
          abortedAt = performance.now();
          cancel.abort();
        },
      });
      expect(await running).toMatchObject({ exitCode: null, stopped: 'cancelled', stdout: 'up\n' });
      expect(processesWith(mark)).toBe(0);
      expect(performance.now() - abortedAt).toBeLessThan(10_000);
      const never = await sh(world().area(), 'echo ran', { signal: cancel.signal });
      expect(never).toMatchObject({ exitCode: null, stopped: 'cancelled', stdout: '' });
    });

    test('leaves nothing after an abort at any moment of the start', async () => {
      const mark = markedSleep();
      const area = world().area();
      for (const ms of [0, 1, 2, 4, 6, 8, 10, 12, 15, 20]) {
        const result = await sh(area, `sleep ${mark}`, { signal: AbortSignal.timeout(ms) });
        expect(result).toMatchObject({ exitCode: null, stopped: 'cancelled' });
        expect(processesWith(mark)).toBe(0);
      }
    });

    test('ends everything that it left running', async () => {
      const mark = markedSleep();
      const line = `(setsid sh -c 'trap "" TERM HUP INT; sleep ${mark}' &) ; sleep 0.2; echo done`;
      expect(await sh(world().area(), line)).toMatchObject({ exitCode: 0, stdout: 'done\n' });
      expect(processesWith(mark)).toBe(0);
    });

    test('is on time even if a daemon keeps the output open', async () => {
      const mark = markedSleep();
      const line = `(setsid setsid sh -c 'trap "" TERM HUP INT; sleep ${mark}' &) ; sleep ${mark}`;
      const result = await sh(world().area(), line, { limits: limited({ wallMs: 700 }) });
      expect(result).toMatchObject({ exitCode: null, stopped: 'wall' });
      expect(processesWith(mark)).toBe(0);
    });
  });
}
