import { z } from 'zod';
import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes } from './outcomes.ts';

const Event = z.object({
  Action: z.string(),
  Package: z.string().catch(''),
  ImportPath: z.string().catch(''),
  Test: z.string().catch(''),
  Output: z.string().catch(''),
});

const GO_OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  pass: 'passed',
  fail: 'failed',
  skip: 'skipped',
};
/** Characters of a test's output that are kept while its end is awaited. */
const MAX_OUTPUT_CHARS = 4_000;

/**
 * What `go test -json` writes: one event a line (cmd/test2json in golang/go). Ids are package, test and subtests; a
 * package that fails although none of its tests does gets an id of its own. Throws an Error where there is no event.
 * What tests print comes as the output of an event; a line that is no event is passed over.
 */
export function readGo(text: string): Outcomes {
  const outcomes = new Outcomes();
  const output = new Map<string, string>();
  const failing = new Set<string>();
  let events = 0;
  for (const line of text.split('\n')) {
    const event = eventOf(line);
    if (!event) continue;
    events += 1;
    const where = event.Package || event.ImportPath;
    const key = JSON.stringify([where, event.Test]);
    if (event.Action === 'output' || event.Action === 'build-output') {
      output.set(key, `${output.get(key) ?? ''}${event.Output}`.slice(-MAX_OUTPUT_CHARS));
      continue;
    }
    const outcome = GO_OUTCOMES[event.Action];
    if (!outcome) continue;
    if (event.Test !== '') {
      outcomes.add([where, ...event.Test.split('/')], outcome, output.get(key));
      if (outcome === 'failed') failing.add(where);
    } else if (outcome === 'failed' && !failing.has(where)) {
      outcomes.add([where, 'did not run'], 'failed', output.get(key));
    }
  }
  if (events === 0) throw new Error('it holds no event of go test');
  return outcomes;
}

function eventOf(line: string): z.infer<typeof Event> | null {
  if (!line.startsWith('{')) return null;
  try {
    return Event.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    // Output of the build stands between the events.
    return null;
  }
}
