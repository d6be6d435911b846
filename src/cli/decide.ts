import { type Command, Option } from 'commander';
import { answerOf, replyOf, type Command as Saying } from '../core/commands/index.ts';
import { Fault, type RunId } from '../core/model/index.ts';
import { flows, reply } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { viewById } from './follow.ts';
import { jsonText } from './render/index.ts';

interface Flags {
  readonly json?: boolean;
}

/** `runoff answer`, `approve` and `revise`: the replies to a run that waits. */
export function addAnswers(program: Command, shell: Shell, done: (code: number) => void): void {
  const say = async (run: RunId, saying: Saying, { json }: Flags) =>
    done(await sendReply(shell, run, saying, json ?? false));
  const command = (name: string, does: string) =>
    program
      .command(name)
      .description(does)
      .argument('<run>', 'id of the run')
      .addOption(new Option('--json', 'print one JSON document on standard output'));
  command('answer', 'answer the open question of a run')
    .argument('<answer...>', 'option number or free text')
    .action((run: string, words: readonly string[], flags: Flags) =>
      say(run, { name: 'answer', ...answerOf(words.join(' ')) }, flags),
    );
  command('approve', 'approve the plan of a run so that the coders start').action(
    (run: string, flags: Flags) => say(run, { name: 'approve' }, flags),
  );
  command('revise', 'ask a run for a different plan')
    .argument('<text...>', 'what should be different')
    .action((run: string, words: readonly string[], flags: Flags) =>
      say(run, { name: 'revise', text: words.join(' ') }, flags),
    );
}

/**
 * Sends a reply to a run of this machine or of any worker on the same database. The run continues in its own process.
 */
async function sendReply(shell: Shell, runId: RunId, saying: Saying, json: boolean): Promise<number> {
  const own = shell.newRunId();
  // An executor with its own name: it must be able to signal the engine, and has nothing to resume.
  const { world, close } = await shell.open({ role: 'standalone', executor: `cli-${own}` });
  try {
    const { origin } = await viewById(world, runId);
    await world.engine.launch(flows(world));
    const newReply = replyOf(saying, null, world.clock.now());
    if (!newReply) throw new Fault('INTERNAL', `\`${saying.name}\` is not a reply to a run.`);
    const result = await reply(world, runId, `cli:${own}`, newReply);
    if (result.kind === 'not-waiting') throw new Fault('RUN_NOT_WAITING', result.why);
    if (result.kind === 'unfit') throw new Fault('REPLY_UNFIT', result.why);
    // A run of the command line has its own process, which may have ended while the run waits.
    const hint =
      origin.kind === 'local' ? ` If its process has ended, resume it: runoff resume ${runId}` : '';
    shell.screen.out(
      json ? `${jsonText({ run: runId, accepted: true })}\n` : `Run ${runId} accepted your reply.${hint}\n`,
    );
    return EXIT.done;
  } finally {
    await close();
  }
}
