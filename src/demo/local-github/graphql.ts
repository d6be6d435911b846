import { found } from './emulator.ts';
import type { Inside, Repository } from './inside.ts';
import { type Json, objectIn, textAt } from './json.ts';
import { type Answer, type Asked, mayAct, type Route, refused } from './route.ts';

/** GraphQL's ids of the emulator's comments. */
const COMMENT_ID = /^0:IssueComment(\d+)$/;
const CLASSIFIERS: ReadonlySet<string> = new Set([
  'ABUSE',
  'DUPLICATE',
  'OFF_TOPIC',
  'OUTDATED',
  'RESOLVED',
  'SPAM',
]);

const answered = (data: Json): Answer => ({ status: 200, data });

/** GraphQL answers with success, and says in its answer what went wrong. */
const failed = (type: string, message: string): Answer =>
  answered({ data: { minimizeComment: null }, errors: [{ type, path: ['minimizeComment'], message }] });

/** The one mutation that exists here: folding a comment. */
async function graphql(inside: Inside, asked: Asked): Promise<Answer> {
  if (!asked.holder) return refused(401, 'This endpoint requires you to be authenticated.');
  const body = objectIn(asked.body);
  if (!textAt(body, 'query').includes('minimizeComment')) {
    return answered({ errors: [{ message: 'The local GitHub knows the mutation minimizeComment only.' }] });
  }
  const subject = textAt(body, 'variables', 'subjectId');
  const classifier = textAt(body, 'variables', 'classifier');
  if (!CLASSIFIERS.has(classifier)) {
    return answered({ errors: [{ message: 'Variable $classifier was provided invalid value' }] });
  }
  const id = COMMENT_ID.exec(Buffer.from(subject, 'base64').toString())?.[1];
  const repository = id === undefined ? undefined : await holderOf(inside, id);
  if (!repository || id === undefined) {
    return failed('NOT_FOUND', `Could not resolve to a node with the global id of '${subject}'.`);
  }
  const rights = asked.holder.permissions;
  if ((rights && rights.issues !== 'write') || !mayAct(repository, asked, 'triage')) {
    return failed('FORBIDDEN', 'Resource not accessible by integration');
  }
  inside.minimised.push({ repository: repository.fullName, comment: Number(id), classifier });
  return answered({ data: { minimizeComment: { minimizedComment: { isMinimized: true } } } });
}

async function holderOf(inside: Inside, comment: string): Promise<Repository | undefined> {
  for (const repository of inside.repositories.values()) {
    const path = `/repos/${repository.fullName}/issues/comments/${comment}`;
    const token = inside.emulator.ownToken(repository.owner);
    if (await found(inside.emulator.call('GET', path, token))) return repository;
  }
  return undefined;
}

export const graphqlRoutes: readonly Route[] = [
  { method: 'POST', pattern: /^(?:\/api)?\/graphql$/, answer: graphql },
];
