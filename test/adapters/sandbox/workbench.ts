import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { inject } from 'vitest';
import {
  type BubblewrapOptions,
  type Owner,
  openBubblewrap,
  prepareToolchain,
} from '../../../src/adapters/sandbox/index.ts';
import {
  DEFAULT_LIMITS,
  type ExecSpec,
  type Limits,
  type Sandbox,
  type WorkArea,
} from '../../../src/ports/index.ts';

/** An unused id, so that no other process of the machine counts. */
const TEST_OWNER: Owner = { uid: 64190, gid: 64190 };

export interface HostEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with everything that a sandbox needs, and the host around it. */
export interface Workbench {
  readonly root: string;
  /** Null when the tests themselves run as an ordinary user. */
  readonly owner: Owner | null;
  readonly options: BubblewrapOptions;
  readonly sandbox: Sandbox;
  /** A new area whose single lower layer holds some files. */
  area(files?: Readonly<Record<string, string>>): WorkArea;
  /** A new folder that belongs to the sandboxes' user. */
  folder(): string;
  /** Runs a program on the host as the sandboxes' user: what an attack does when nothing holds it. */
  unboxed(argv: readonly [string, ...string[]], env?: Readonly<Record<string, string>>): Promise<HostEnd>;
  close(): void;
}

/**
 * A toolchain to which a test may add checks of its own. Node is copied once for the test run and linked here: nobody
 * writes to programs, and a copy takes longer than many a test.
 */
async function linkedToolchain(folder: string, owner: Owner | null): Promise<string> {
  const { dir } = await prepareToolchain({ dir: inject('toolchains'), owner, environment: {} });
  mkdirSync(folder, { mode: 0o755 });
  const linked = statSync(dir).dev === statSync(folder).dev ? '-al' : '-a';
  execFileSync('cp', [linked, dir, folder]);
  return join(folder, basename(dir));
}

export async function openWorkbench(options: Partial<BubblewrapOptions> = {}): Promise<Workbench> {
  const root = mkdtempSync(join(tmpdir(), 'runoff-sandbox-'));
  chmodSync(root, 0o755);
  const owner = process.getuid?.() === 0 ? TEST_OWNER : null;
  const toolchain = await linkedToolchain(join(root, 'toolchain'), owner);
  const opened = { toolchain, owner, scratch: join(root, 'scratch'), ...options };
  const areas: WorkArea[] = [];
  const own = (path: string): string => {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
    return path;
  };
  const fresh = (): string => own(join(root, randomBytes(6).toString('hex')));
  return {
    root,
    owner,
    options: opened,
    sandbox: openBubblewrap(opened),
    area(files = {}) {
      const top = fresh();
      const lower = own(join(top, 'lower'));
      for (const [name, text] of Object.entries(files)) {
        own(dirname(join(lower, name)));
        writeFileSync(join(lower, name), text);
        if (owner !== null) chownSync(join(lower, name), owner.uid, owner.gid);
      }
      const area: WorkArea = {
        id: top,
        lowers: [lower],
        upper: own(join(top, 'upper')),
        work: own(join(top, 'work')),
        merged: own(join(top, 'merged')),
        home: own(join(top, 'home')),
      };
      areas.push(area);
      return area;
    },
    folder: fresh,
    unboxed([file, ...args], env = {}) {
      return new Promise((resolve, reject) => {
        const child = spawn(file, args, {
          env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
          ...(owner ?? {}),
        });
        let stdout = '';
        let stderr = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          stdout += text;
        });
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          stderr += text;
        });
        child.on('error', reject);
        child.on('close', (code) => resolve({ code, stdout, stderr }));
      });
    },
    close() {
      // As root of a user namespace: an attack may have closed folders to their own owner.
      const folders = areas.map(({ id }) => id);
      spawnSync('unshare', ['--user', '--map-root-user', 'rm', '-rf', '--', ...folders], {
        ...(owner ?? {}),
      });
      rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Generous for a busy machine; a test that is about one limit lowers that one. */
export const LIMITS: Limits = { ...DEFAULT_LIMITS, wallMs: 60_000 };

export const withLimits = (limits: Partial<Limits>): Limits => ({ ...LIMITS, ...limits });

/** A shell line as a spec. */
export const shell = (area: WorkArea, line: string, more: Partial<ExecSpec> = {}): ExecSpec => ({
  area,
  argv: ['sh', '-c', line],
  limits: LIMITS,
  ...more,
});

/** A JavaScript module for the toolchain's Node as a spec. */
export const script = (area: WorkArea, source: string, more: Partial<ExecSpec> = {}): ExecSpec => ({
  area,
  argv: ['/opt/toolchain/bin/node', '--input-type=module', '--eval', source],
  limits: LIMITS,
  ...more,
});
