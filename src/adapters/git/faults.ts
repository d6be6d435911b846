import { Fault, type FaultCode, machineFaultIn } from '../../core/model/index.ts';
import type { GitDone } from './git.ts';

const MAX_DETAIL = 600;
const PROGRESS = /^remote: (Enumerating|Counting|Compressing|Total)/;
const REFUSED = /requested URL returned error: 40[34]|repository '.*' not found/i;
/** HTTP 401: it tells of the token, or of the check of tokens, and nothing of what was asked (0227). */
const TOKEN_REFUSED =
  /Authentication failed|Invalid username or|could not read Username|requested URL returned error: 401/i;

/** Git's error message, shortened for use in a sentence. Anything that looks like a login in a URL is removed. */
export function errorTextOf(done: GitDone): string {
  const lines = done.stderr
    .split('\n')
    .filter((line) => /^(fatal|error|remote|warning): /.test(line) && !PROGRESS.test(line));
  const message = (lines.length > 0 ? lines.join(' ') : done.stderr).trim().replace(/:\/\/[^/\s@]*@/g, '://');
  return message.slice(0, MAX_DETAIL) || `it ended with exit code ${done.exitCode}`;
}

/** The error of a call that its caller has cancelled. */
export const abortError = (): DOMException => new DOMException('The work was cancelled.', 'AbortError');

export const isAbortError = (thrown: unknown): boolean =>
  thrown instanceof DOMException && thrown.name === 'AbortError';

/** A git command that failed, as the cause of a fault. */
class GitFailure extends Error {
  readonly cwd: string;

  constructor(done: GitDone) {
    super(errorTextOf(done));
    this.name = 'GitFailure';
    this.cwd = done.cwd;
  }
}

/** The fault behind a git command on our own stores that should have worked. */
export function gitFault(
  what: string,
  done: GitDone,
  code: FaultCode = machineFaultIn(done.stderr) ?? 'INTERNAL',
): Fault {
  return new Fault(code, `${what} failed: ${errorTextOf(done)}`, { cause: new GitFailure(done) });
}

/** What git says where a repository lacks objects that its commits name, as a partial clone does. */
const INCOMPLETE =
  /unable to read [0-9a-f]{40}|could not read [0-9a-f]{40}|bad (?:tree )?object|missing (?:blob|tree|commit|object)|Failed to traverse parents|promisor/i;

/** The fault behind reading a repository on this machine, which is not ours. */
export const sourceFault = (path: string, done: GitDone): Fault =>
  machineFaultIn(done.stderr) === null && INCOMPLETE.test(done.stderr)
    ? new Fault('REPOSITORY_INCOMPLETE', `${path} lacks objects of its own history: ${errorTextOf(done)}`, {
        cause: new GitFailure(done),
      })
    : gitFault(`Reading ${path}`, done);

/** Matches git's messages about a network or a server, and none about this disk. */
const NETWORK =
  /Could not resolve|Failed to connect|Couldn't connect|Connection (?:refused|reset|timed out)|requested URL returned error|RPC failed|hung up|early EOF|SSL|TLS|Empty reply|unexpected disconnect|too slow|timed out|no answer for/i;

/** A failure that a damaged repository of Runoff's may have caused, whatever the code; null for any other fault. */
export function localFailure({ code, cause }: Fault): GitFailure | null {
  if (!(cause instanceof GitFailure)) return null;
  // A block that cannot be read is a damaged file too: another copy of it may land elsewhere.
  const isOfRemote = NETWORK.test(cause.message) || TOKEN_REFUSED.test(cause.message);
  return code === 'INTERNAL' ||
    code === 'REPOSITORY_INCOMPLETE' ||
    code === 'DISK_FAILING' ||
    (code === 'GITHUB_UNAVAILABLE' && !isOfRemote)
    ? cause
    : null;
}

/** Whether the remote answered and rejected the request. */
export const wasDenied = (done: GitDone): boolean =>
  REFUSED.test(done.stderr) || TOKEN_REFUSED.test(done.stderr);

/** What the other end says is not about this machine, and may name files of a candidate. */
const REMOTE_LINE = /^remote: .*$/gm;

/** The fault behind a git command that talks to a remote with a login. */
export function remoteFault(what: string, done: GitDone): Fault {
  const machine = machineFaultIn(done.stderr.replace(REMOTE_LINE, ''));
  if (machine !== null) return gitFault(what, done, machine);
  return new Fault(
    REFUSED.test(done.stderr) ? 'GITHUB_REFUSED' : 'GITHUB_UNAVAILABLE',
    `${what} failed: ${errorTextOf(done)}`,
    { cause: new GitFailure(done) },
  );
}
