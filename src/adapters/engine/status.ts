import type { WorkflowStatus } from '@dbos-inc/dbos-sdk';
import type { FlowStatus } from '../../ports/index.ts';
import type { FlowResult } from './flow.ts';

function whyFailed(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The port's words for what DBOS says of a flow; null when it knows of none. */
export function statusOf(found: WorkflowStatus | null): FlowStatus {
  if (found === null) return { kind: 'unknown' };
  switch (found.status) {
    case 'SUCCESS':
      return { kind: 'done', value: (found.output as FlowResult | undefined)?.value };
    case 'CANCELLED':
      return { kind: 'cancelled' };
    case 'ERROR':
      return { kind: 'failed', why: whyFailed(found.error) };
    case 'MAX_RECOVERY_ATTEMPTS_EXCEEDED':
      return { kind: 'failed', why: 'It was restarted too often without coming to an end.' };
    default:
      return { kind: 'running' };
  }
}
