// An app with one sandbox, for the escape suite: it is started with secrets in its environment and folders left open.
import { openBubblewrap, openContainer } from '../../../src/adapters/sandbox/index.ts';
import type { Answer, Backend, Question } from './dirty.ts';

const backend = JSON.parse(process.argv[2] ?? '') as Backend;
const sandbox =
  backend.kind === 'container' ? openContainer(backend.options) : openBubblewrap(backend.options);

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
