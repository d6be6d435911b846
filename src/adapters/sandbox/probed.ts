import { Fault } from '../../core/model/index.ts';
import type { ExecResult, ExecSpec, Sandbox, SandboxBackend } from '../../ports/index.ts';

/** The result of a command that was aborted before it was started. */
export const NEVER_STARTED: ExecResult = {
  exitCode: null,
  stopped: 'cancelled',
  stdout: '',
  stderr: '',
  truncated: false,
  ms: 0,
};

interface ProbedReady {
  readonly kind: 'ready';
  readonly detail: string;
  readonly weaker: readonly string[];
}

interface ProbedMissing {
  readonly kind: 'missing';
  readonly why: string;
  readonly remedy: string;
}

/** A sandbox that executes nothing before its probe has found a working variant. `find` rejects with outages only. */
export function probedSandbox<Found extends ProbedReady>(
  backend: SandboxBackend,
  find: () => Promise<Found | ProbedMissing>,
  execAs: (spec: ExecSpec, found: Found) => Promise<ExecResult>,
): Sandbox {
  // A success is final, because it does not change while Runoff runs. A failure may be fixed, so it is checked again.
  let finding: Promise<Found | ProbedMissing> | null = null;
  const look = async (): Promise<Found | ProbedMissing> => {
    finding ??= find();
    try {
      const found = await finding;
      if (found.kind === 'missing') finding = null;
      return found;
    } catch (thrown) {
      finding = null;
      throw thrown;
    }
  };
  return {
    async probe() {
      const found = await look();
      if (found.kind === 'missing') return found;
      return { kind: 'ready', backend, detail: found.detail, weaker: found.weaker };
    },
    async exec(spec) {
      const found = await look();
      if (found.kind === 'missing') {
        throw new Fault('SANDBOX_UNAVAILABLE', `${found.why} To fix it: ${found.remedy}`);
      }
      return spec.signal?.aborted ? NEVER_STARTED : await execAs(spec, found);
    },
  };
}
