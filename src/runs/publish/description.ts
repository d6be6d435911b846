import { asFault, OUTAGES } from '../../core/model/index.ts';
import { withCiStarted } from '../../core/reports/index.ts';
import type { PickRecord } from '../../ports/index.ts';
import { idempotentWrite } from '../stage.ts';
import { shownOn } from './branches.ts';
import { outcomeForPublishing } from './comments.ts';
import type { PublishContext } from './context.ts';
import { type PullOutcome, pullText } from './on-github.ts';

/** Writes title and description of a pull request anew: who picked, and which candidate it shows, may have changed. */
export async function describePull(
  context: PublishContext,
  outcome: PullOutcome,
  { key }: PickRecord,
): Promise<void> {
  const { run, world } = context;
  const alias = await shownOn(world.store, { ...run, outcome });
  if (alias === null) return;
  await idempotentWrite(world.store, run.id, `text:${key}`, {
    look: async () => null,
    async write() {
      const { view, diffs } = await outcomeForPublishing(context, outcome);
      return editPull(context, outcome.number, await pullText(context, view, alias, diffs));
    },
  });
}

/** Says in the description that CI has started; people may have edited the rest of it. */
export async function describeCi(context: PublishContext, { number }: PullOutcome): Promise<void> {
  const pull = await context.reader.pull(number);
  const body = withCiStarted(pull?.body ?? '');
  if (pull && body !== pull.body) await editPull(context, number, { title: pull.title, body });
}

/** If someone else opened a pull request from Runoff's branch, its description stays theirs. */
async function editPull(
  { world, run, publisher }: PublishContext,
  number: number,
  { title, body }: { readonly title: string; readonly body: string },
): Promise<'edited' | 'refused'> {
  try {
    await publisher.editPull(number, { title, body });
    return 'edited';
  } catch (thrown) {
    if (OUTAGES.has(asFault(thrown).code)) throw thrown;
    world.log.warn({ run: run.id, err: thrown }, 'the description of the pull request could not be updated');
    return 'refused';
  }
}
