// An app with one sandbox, for the escape suite: it is started with secrets in its environment and folders left open.
import { type BubblewrapOptions, openBubblewrap } from '../../../src/adapters/sandbox/index.ts';
import type { Answer, Question } from './dirty.ts';

const sandbox = openBubblewrap(JSON.parse(process.argv[2] ?? '') as BubblewrapOptions);

async function answer(question: Question): Promise<Answer> {
  const { id } = question;
  try {
    const value = question.kind === 'probe' ? await sandbox.probe() : await sandbox.exec(question.spec);
    return { id, kind: 'done', value };
  } catch (thrown) {
    return { id, kind: 'threw', message: String(thrown) };
  }
}

process.on('message', async (question: Question) => process.send?.(await answer(question)));
