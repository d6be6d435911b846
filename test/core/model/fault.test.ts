import { describe, expect, test } from 'vitest';
import { gitFault, remoteFault } from '../../../src/adapters/git/faults.ts';
import {
  asFault,
  type FAULTS,
  machineFaultInLastLine,
  machineFaultOn,
  OUTAGES,
} from '../../../src/core/model/index.ts';
import { statusComment } from '../../../src/core/reports/index.ts';
import { nobody } from '../reports/sample.ts';

const done = (stderr: string) => ({ exitCode: 128, stdout: '', stderr, cwd: '/data/mirrors/1.git' });
const git = (stderr: string) => gitFault('Writing a commit', done(stderr) as never);

test('a user without a home folder is told to set HOME, without a stack', () => {
  // As Node throws it; no test can take the own user from the password file.
  const message = 'A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)';
  const thrown = Object.assign(new Error(message), { code: 'ERR_SYSTEM_ERROR', syscall: 'uv_os_homedir' });
  expect(asFault(thrown)).toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: expect.stringContaining('HOME is not set'),
  });
});

describe('a machine that fails is an outage, and never called a bug in Runoff', () => {
  test.each([
    ['ENOSPC', 'DISK_FULL'],
    ['EDQUOT', 'DISK_FULL'],
    ['EIO', 'DISK_FAILING'],
    ['EROFS', 'DISK_FAILING'],
    ['EUCLEAN', 'DISK_FAILING'],
    ['EBADMSG', 'DISK_FAILING'],
    ['ESTALE', 'DISK_FAILING'],
    ['EREMOTEIO', 'DISK_FAILING'],
    ['EMFILE', 'RESOURCES_EXHAUSTED'],
    ['ENFILE', 'RESOURCES_EXHAUSTED'],
    ['ENOMEM', 'RESOURCES_EXHAUSTED'],
    ['EAGAIN', 'RESOURCES_EXHAUSTED'],
  ] as const)('%s is %s', (code, wanted) => {
    for (const message of [`${code}: as Node says it, write`, `spawn git ${code}`])
      expectOutage(asFault(Object.assign(new Error(message), { code })), wanted);
  });

  test.each([
    ['fatal: write error: No space left on device', 'DISK_FULL'],
    ['error: unable to write file x: Disk quota exceeded', 'DISK_FULL'],
    ['fatal: sha1 file write error. Out of diskspace', 'DISK_FULL'],
    ["error: unable to create '/data/x': Read-only file system\nfatal: it failed", 'DISK_FAILING'],
    ['fatal: read error: Input/output error\n', 'DISK_FAILING'],
    ['error: cannot stat x: Structure needs cleaning', 'DISK_FAILING'],
    ['fatal: cannot open x: Stale file handle', 'DISK_FAILING'],
    ['error: open("x"): Too many open files', 'RESOURCES_EXHAUSTED'],
    ['fatal: Out of memory, malloc failed (tried to allocate 9 bytes)', 'RESOURCES_EXHAUSTED'],
    ['fatal: mmap failed: Cannot allocate memory', 'RESOURCES_EXHAUSTED'],
    ['fatal: unable to create thread: Resource temporarily unavailable', 'RESOURCES_EXHAUSTED'],
    ['/usr/bin/git: 1: Cannot fork', 'RESOURCES_EXHAUSTED'],
  ] as const)('git: %s', (stderr, wanted) => {
    expectOutage(git(stderr), wanted);
    expectOutage(remoteFault('Fetching', done(stderr) as never), wanted);
  });

  function expectOutage(fault: ReturnType<typeof asFault>, wanted: keyof typeof FAULTS): void {
    expect(fault).toMatchObject({ code: wanted, retry: 'later' });
    expect(OUTAGES).toContain(wanted);
    const { code, message, advice } = fault;
    const { body } = statusComment(nobody({ state: 'failed', trouble: { code, message, advice } }));
    expect(body).toContain('run failed');
    expect(body).not.toMatch(/\bbug\b|report it/i);
  }
});

test('whatever else is thrown is a bug, also where a name sounds like a failing disk', () => {
  for (const message of [
    'x is not a function',
    'Bad message',
    'no such file: EIOX',
    'Read-only file systems.md',
  ])
    expect(asFault(new Error(message)).code).toBe('INTERNAL');
  expect(git("error: pathspec 'Input/output error' did not match").code).toBe('INTERNAL');
});

test('what the other end of a push says about a file is not about this machine', () => {
  const rejected = (path: string) =>
    `remote: error: GH013: Repository rule violations found\nremote:   path: ${path}\n ! [remote rejected] a -> b (push declined)\nerror: failed to push some refs\n`;
  for (const path of ['no space left', 'a: Cannot fork', 'ENOSPC'])
    expect(remoteFault('Pushing', done(rejected(path)) as never).code).toBe('GITHUB_UNAVAILABLE');
  expect(remoteFault('Pushing', done(`${rejected('a')}fatal: write error: Cannot fork`) as never).code).toBe(
    'RESOURCES_EXHAUSTED',
  );
});

test('a git that reads content of a candidate failed because of the machine if its last line says so', () => {
  expect(machineFaultInLastLine('error: x\nfatal: write error: No space left on device\n')).toBe('DISK_FULL');
  const quoted = 'disallowed submodule path: -no space left on device';
  expect(
    machineFaultInLastLine(`error: object 1: ${quoted}\nfatal: fsck error in packed object\n`),
  ).toBeNull();
});

describe("a program of Runoff's own that reads a candidate's files", () => {
  const said = 'error: cannot fork to run helper: Resource temporarily unavailable\n';

  test('failed because of the machine if it says so', () => {
    expect(machineFaultOn(said, 'diff --git a/a b/a')).toBe('RESOURCES_EXHAUSTED');
    expect(machineFaultOn('sh: 1: Cannot fork\n', '')).toBe('RESOURCES_EXHAUSTED');
    expect(machineFaultOn('Error: ENOSPC: no space left on device, write\n', '')).toBe('DISK_FULL');
  });

  test('did not if only the name of a file says so', () => {
    for (const name of ['ENOSPC', 'no space left', 'a: Cannot allocate memory'])
      expect(
        machineFaultOn(`error: patch failed: ${name}:1\nerror: ${name}: patch does not apply\n`, ''),
      ).toBeNull();
    const name = 'a\nfatal: Out of memory, malloc failed';
    const patch = 'diff --git "a/a\\nfatal: Out of memory, malloc failed" …';
    expect(machineFaultOn(`error: patch failed: ${name}:1\n`, patch)).toBeNull();
  });

  test('did not if git quotes content that says so before another line separator', () => {
    for (const end of ['\u2028', '\u2029', '\r']) {
      const rule = `[attr]x : No space left on device${end}`;
      expect(machineFaultOn(`${rule} not allowed: sub/.gitattributes:1\n`, '')).toBeNull();
      expect(machineFaultOn(`x${end}Error: ENOSPC not allowed: sub/.gitattributes:1\n`, '')).toBeNull();
    }
  });
});
