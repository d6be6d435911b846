import { DBOS } from '@dbos-inc/dbos-sdk';

/** Runs that are removed by one statement. */
const AT_ONCE = 200;

/** Removes the engine's rows of runs that ended before a moment, milliseconds since 1970 UTC; how many runs they were. */
export async function forgetEnded(before: number): Promise<number> {
  const completedBefore = new Date(before).toISOString();
  let gone = 0;
  for (;;) {
    const found = await DBOS.listWorkflows({
      workflowName: 'run',
      completedBefore,
      status: ['SUCCESS', 'ERROR', 'CANCELLED'],
      limit: AT_ONCE,
      loadInput: false,
      loadOutput: false,
    });
    if (found.length === 0) return gone;
    await DBOS.deleteWorkflows(
      found.map(({ workflowID }) => workflowID),
      true,
    );
    gone += found.length;
  }
}
