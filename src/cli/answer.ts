import { type Command, Option } from 'commander';
import { answerOf, replyOf, type Command as Saying } from '../core/commands/index.ts';
import { Fault, type RunId } from '../core/model/index.ts';
import { flows, reply } from '../runs/index.ts';
import { viewById } from './follow.ts';
import { jsonText } from './render/index.ts';
import { EXIT, type Shell } from './runtime.ts';

interface Flags {
  readonly json?: boolean;
}

/** `runoff answer`, `approve` and `revise`: what can be said to a run that waits. */
export function addAnswers(program: Command, shell: Shell, done: (code: number) => void): void {
  const say = async (run: RunId, saying: Saying, { json }: Flags) =>
    done(await sayTo(shell, run, saying, json ?? false));
  const command = (name: string, does: string) =>
    program
      .command(name)
      .description(does)
      .argument('<run>', 'id of the run')
      .addOption(new Option('--json', 'print one JSON document on standard output'));
  command('answer', 'answers the question that a run waits with')
    .argument('<answer...>', 'number of an option, or your own words')
    .action((run: string, words: readonly string[], flags: Flags) =>
      say(run, { name: 'answer', ...answerOf(words.join(' ')) }, flags),
    );
  command('approve', 'lets the coders start on the plan that a run waits with').action(
    (run: string, flags: Flags) => say(run, { name: 'approve' }, flags),
  );
  command('revise', 'asks a run that waits for another plan')
    .argument('<wish...>', 'what should be different')
    .action((run: string, words: readonly string[], flags: Flags) =>
      say(run, { name: 'revise', text: words.join(' ') }, flags),
    );
}

/** Says something to a run of this machine or of any worker on the same database; the run goes on in its own process. */
async function sayTo(shell: Shell, runId: RunId, saying: Saying, json: boolean): Promise<number> {
  const own = shell.newRunId();
  // An executor of its own name: it must be able to speak to the engine, and has nothing to take up.
  const { world, close } = await shell.open({ executor: `cli-${own}` });
  try {
    const { origin } = await viewById(world, runId);
    await world.engine.launch(flows(world));
    const said = replyOf(saying, null, world.clock.now());
    if (!said) throw new Fault('INTERNAL', `\`${saying.name}\` says nothing to a run.`);
    const heard = await reply(world, runId, `cli:${own}`, said);
    if (heard.kind === 'not-waiting') throw new Fault('RUN_NOT_WAITING', heard.why);
    if (heard.kind === 'unfit') throw new Fault('REPLY_UNFIT', heard.why);
    // A run of the command line lives in a process of its own, which may be gone while it waits.
    const hint = origin.kind === 'local' ? ` If its process has ended: runoff resume ${runId}` : '';
    shell.screen.out(
      json ? `${jsonText({ run: runId, taken: true })}\n` : `Run ${runId} goes on with it.${hint}\n`,
    );
    return EXIT.done;
  } finally {
    await close();
  }
}
