import { type ChildLost, Fault, programKilled, signalIn } from '../../core/model/index.ts';
import type { BoxEnd } from './box.ts';
import { INSIDE } from './filesystem.ts';
import { type CommandExit, commandExit, lastErrorLines, SHORTAGE } from './supervise.ts';

/** Message of unshare (util-linux) if its child was killed, however early. */
const CHILD_KILLED =
  /^unshare: (?:child exit|waitpid|signal handler reset|sigprocmask unblock|child kill) failed/m;

/** Message of mount (util-linux) if a lower folder of an overlay does not exist. */
const LAYER_GONE = /^mount: [^\n]*special device overlay does not exist/m;
const LAYER_REPLACED = 'could not be set up: a folder that it stands on is gone, or is just being made again';

const NOT_STARTED = /^bwrap: execvp [^\n]*: ([^\n:]+)\n/;

/** Name of the launcher, if it is unknown which of its programs was killed. */
export const LAUNCHER = 'The launcher of a sandbox (unshare, bwrap)';

/**
 * How a launch ended that nothing stopped. `lost`: a program of the launcher was killed, or could not be started for
 * lack of a resource, before the command did anything, so that it can be started again. Throws PROGRAM_KILLED if it is
 * unknown how far the command got, and SANDBOX_UNAVAILABLE if there can be no sandbox.
 */
export function launchEnd(end: BoxEnd, stderr: string): CommandExit | ChildLost {
  if (end.reported !== null) return commandExit(end.reported);
  const notStarted = NOT_STARTED.exec(stderr);
  const killed = launcherKilled(end);
  if (killed === null && notStarted !== null) return notStartedEnd(notStarted);
  const lost = killed ?? setUpLost(end, stderr);
  if (lost !== null && end.begun) throw programKilled(LAUNCHER, lost);
  if (lost !== null) return lost;
  const why = lastErrorLines(stderr) || `the launcher ended with code ${end.code}`;
  throw new Fault('SANDBOX_UNAVAILABLE', `The sandbox could not be set up for ${INSIDE.repo}: ${why}`);
}

function launcherKilled({ code, refused }: BoxEnd): ChildLost | null {
  if (refused !== null) return { kind: 'lost', how: `could not be started: ${refused}` };
  if (code === null) return { kind: 'lost', program: 'unshare, which starts a sandbox,', how: 'was killed' };
  const signal = signalIn(code);
  return signal === null ? null : { kind: 'lost', how: `was killed by signal ${signal}` };
}

/** A command that could not be executed has done nothing, whatever the reason. */
function notStartedEnd([said, why = '']: RegExpExecArray): CommandExit | ChildLost {
  if (SHORTAGE.test(why)) return { kind: 'lost', how: `could not start the command (${said.trim()})` };
  return { exitCode: why === 'No such file or directory' ? 127 : 126 };
}

function setUpLost({ entered, begun }: BoxEnd, stderr: string): ChildLost | null {
  // `unshare` is done by then; its message is about the end of its child.
  if (begun || (entered && /^unshare: /m.test(stderr)) || CHILD_KILLED.test(stderr)) {
    return { kind: 'lost', program: 'bwrap, which makes a sandbox,', how: 'was killed' };
  }
  if (LAYER_GONE.test(stderr)) return { kind: 'lost', program: 'The sandbox', how: LAYER_REPLACED };
  return SHORTAGE.test(stderr) ? { kind: 'lost', how: `could not start (${lastErrorLines(stderr)})` } : null;
}
