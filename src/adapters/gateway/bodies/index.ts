import type { ModelProtocol } from '../../../core/model/index.ts';
import { ANTHROPIC } from './anthropic.ts';
import { CHAT } from './chat.ts';
import { GEMINI } from './gemini.ts';
import { type Dialect, type OutputLimit, outputLimit, readLimit } from './limits.ts';
import { RESPONSES } from './responses.ts';
import { type Body, type Findings, isObject, type Rule } from './rules.ts';

export { camel } from './gemini.ts';
export type { Dialect, OutputLimit } from './limits.ts';
export { type Body, isObject } from './rules.ts';

const RULES: Readonly<Record<ModelProtocol, Rule>> = {
  anthropic: ANTHROPIC,
  gemini: GEMINI,
  'openai-chat': CHAT,
  'openai-responses': RESPONSES,
};

export type CheckedBody =
  | {
      readonly kind: 'may-pass';
      readonly body: Body;
      readonly limit: OutputLimit;
      /** Names of fields that are on no list and were left out. The client chose them. */
      readonly unknown: readonly string[];
    }
  /** It asks for what is not available here. */
  | { readonly kind: 'forbidden'; readonly why: string }
  | { readonly kind: 'invalid'; readonly why: string };

/** A call for which a body is meant. */
export interface Purpose {
  readonly protocol: ModelProtocol;
  readonly model: string;
  /** To count the tokens of a request, which writes nothing. */
  readonly counting: boolean;
  readonly dialect: Dialect;
}

/**
 * Makes a body of those fields that are on the list of its protocol. A sandbox has no network of its own, so it must
 * not borrow the provider's; and what costs more than the listed price stays behind. docs/decisions/0050 says how each
 * field is decided.
 */
export function checkBody(sent: Body, purpose: Purpose): CheckedBody {
  const { protocol, counting, dialect } = purpose;
  const findings: Findings = { refusal: null, unknown: new Set(), hostedTools: false };
  const kept = RULES[protocol](sent, findings);
  if (findings.refusal !== null || !isObject(kept))
    return { kind: 'forbidden', why: findings.refusal ?? 'a body that is no object' };
  const inner = counting && isObject(kept.generateContentRequest) ? kept.generateContentRequest : null;
  const content = inner ?? kept;
  const read = readLimit(protocol, content);
  if (read.kind === 'invalid') return read;
  if (findings.hostedTools) leaveOutChoice(content);
  PREPARE[protocol](content, purpose);
  const limit = outputLimit(protocol, content, read, dialect);
  const body = inner ? { generateContentRequest: { model: `models/${purpose.model}`, ...inner } } : kept;
  return { kind: 'may-pass', body, limit, unknown: [...findings.unknown] };
}

/** A choice may name a tool that is gone, and any choice without tools is an error. */
function leaveOutChoice(body: Body): void {
  const none = !Array.isArray(body.tools) || body.tools.length === 0;
  if (none) {
    delete body.tools;
    delete body.toolConfig;
  }
  if (none || isObject(body.tool_choice)) delete body.tool_choice;
}

/** Writes what we decide, whatever the client says. */
const PREPARE: Readonly<Record<ModelProtocol, (body: Body, purpose: Purpose) => void>> = {
  anthropic(body, { model, counting }) {
    body.model = model;
    if (!counting) return;
    delete body.max_tokens;
    delete body.stream;
  },
  gemini(body) {
    delete body.generateContentRequest;
  },
  'openai-chat'(body, { model, dialect }) {
    body.model = model;
    // A stream tells what it used only where it is asked to.
    if (body.stream === true && !dialect.strict) body.stream_options = { include_usage: true };
    else delete body.stream_options;
  },
  'openai-responses'(body, { model }) {
    body.model = model;
    // Absent, it is true.
    body.store = false;
  },
};
