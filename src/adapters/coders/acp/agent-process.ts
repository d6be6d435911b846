import { spawn } from 'node:child_process';
import { Readable, Transform, type TransformCallback, Writable } from 'node:stream';
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk';
import { killGroup } from '../inside.ts';
import { shown } from '../progress.ts';

interface AgentProcess {
  readonly stream: Stream;
  /** Says how the agent ended, as part of a sentence. */
  readonly ended: Promise<string>;
  /** Kills it and all that is left in its group. */
  kill(): void;
}

/** Lines that are not the protocol: some agents greet on standard output; more than this is another program. Our default. */
const MOST_NOISE = 1000;
/** Characters of standard error that are kept, for an agent's last words. */
const LAST_WORDS = 2000;

/** `onNoise`: it prints something else than the protocol, and does not stop. */
export function startAgent(
  [program, ...words]: readonly [string, ...string[]],
  cwd: string,
  onNoise: (firstLine: string) => void,
): AgentProcess {
  const child = spawn(program, words, { cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  let lastWords = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  const ended = Promise.withResolvers<string>();
  child.on('error', (error) => ended.resolve(`could not be started: ${error.message}`));
  // `close` and not `exit`: its last words have then been read.
  child.on('close', (code, signal) => {
    const how = code === null ? `was killed by ${signal}` : `ended with exit code ${code}`;
    ended.resolve(`${how}${lastWords.trim() ? `: ${lastLineOf(lastWords)}` : ''}`);
  });
  // The connection notices by itself; without a listener the process would end.
  child.stdin.on('error', () => {});
  const stdout = child.stdout.pipe(messagesOnly(onNoise));
  return {
    stream: ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
    ),
    ended: ended.promise,
    kill: () => killGroup(child.pid),
  };
}

const lastLineOf = (text: string): string => shown(text.trim().split('\n').at(-1) ?? '');

const NEWLINE = 0x0a;
const BRACE = 0x7b;

/** Lets lines pass that begin with `{`, as every message does. */
function messagesOnly(onNoise: (firstLine: string) => void): Transform {
  let line: 'new' | 'message' | 'noise' = 'new';
  let noise = 0;
  let first = '';
  const take = (part: Buffer, into: Transform) => {
    if (line === 'new') {
      line = part[0] === BRACE ? 'message' : 'noise';
      if (line === 'noise') noise += 1;
    }
    if (line === 'message') into.push(part);
    else if (noise === 1 && first.length < LAST_WORDS) first += part.toString('utf8');
    if (part.at(-1) === NEWLINE) line = 'new';
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      for (let at = 0; at < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, at);
        const next = newline < 0 ? chunk.length : newline + 1;
        take(chunk.subarray(at, next), this);
        at = next;
      }
      if (noise > MOST_NOISE) onNoise(shown(first));
      done();
    },
  });
}
