import type { ModelProtocol } from '../../../core/settings/index.ts';
import { ANTHROPIC } from './anthropic.ts';
import { CHAT } from './chat.ts';
import { GEMINI } from './gemini.ts';
import { RESPONSES } from './responses.ts';
import { type Body, type Findings, isObject, type Rule } from './rules.ts';

export { camel } from './gemini.ts';
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

/** In what a provider differs from the others with its protocol. */
export interface Dialect {
  /** The vendor whose protocol it is: takes its newest fields, and has room for long answers. */
  readonly original: boolean;
  /** Refuses `stream_options` and `max_completion_tokens`; its streams tell their usage unasked. */
  readonly strict: boolean;
}

/** How many output tokens a request may cost at most, and where to write the number that is booked. */
export interface OutputLimit {
  /** Positive and whole. Our default where the request does not say. */
  readonly asked: number;
  set(tokens: number): void;
}

/** Where a request does not say: what current models of these vendors write in one turn at the very most. */
const UNSTATED = 32_000;
/**
 * For servers that imitate them. A number above a model's own maximum is an error there; this is the most that
 * DeepSeek's chat model takes, and leaves room in the context of a model on one's own machine. Our default.
 */
const UNSTATED_ELSEWHERE = 8_192;

export type ReadLimit =
  | { readonly kind: 'limit'; readonly field: string; readonly asked: number | null }
  | { readonly kind: 'invalid'; readonly why: string };

/** Every field that names the most output of an answer, by protocol. */
const FIELDS: Readonly<Record<ModelProtocol, readonly [string, ...string[]]>> = {
  anthropic: ['max_tokens'],
  'openai-chat': ['max_tokens', 'max_completion_tokens'],
  'openai-responses': ['max_output_tokens'],
  gemini: ['maxOutputTokens'],
};

const isLimit = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** Reads the limit of a body that has been through its rules. Null is how OpenAI's reference writes "not stated". */
export function readLimit(protocol: ModelProtocol, body: Body): ReadLimit {
  const holder = protocol === 'gemini' ? generationConfig(body) : body;
  const stated = FIELDS[protocol].filter((name) => holder[name] !== undefined && holder[name] !== null);
  const wrong = stated.find((name) => !isLimit(holder[name]));
  if (wrong) return { kind: 'invalid', why: `${wrong} must be a positive whole number of tokens.` };
  const [first, second] = stated;
  if (first && second && holder[first] !== holder[second])
    return { kind: 'invalid', why: `${first} and ${second} differ; send one of them.` };
  const field = second ?? first ?? FIELDS[protocol][0];
  return { kind: 'limit', field, asked: first ? Number(holder[first]) : null };
}

const generationConfig = (body: Body): Body => (isObject(body.generationConfig) ? body.generationConfig : {});

/** Writes the limit into the one field that the model reads, and makes budgets of thinking fit. */
export function outputLimit(
  protocol: ModelProtocol,
  body: Body,
  { field, asked }: Extract<ReadLimit, { kind: 'limit' }>,
  dialect: Dialect,
): OutputLimit {
  const unstated = dialect.original || protocol === 'gemini' ? UNSTATED : UNSTATED_ELSEWHERE;
  return {
    asked: asked ?? unstated,
    set(tokens) {
      if (protocol === 'gemini') {
        body.generationConfig = { ...withBudget(generationConfig(body), tokens), maxOutputTokens: tokens };
        return;
      }
      for (const name of FIELDS[protocol]) delete body[name];
      body[chatField(protocol, field, asked, dialect)] = tokens;
      fitThinking(body, tokens);
    },
  };
}

/** Servers that imitate OpenAI may not know `max_completion_tokens`, only `max_tokens`. */
function chatField(protocol: ModelProtocol, field: string, asked: number | null, dialect: Dialect): string {
  if (protocol !== 'openai-chat') return field;
  if (dialect.strict) return 'max_tokens';
  return asked === null && dialect.original ? 'max_completion_tokens' : field;
}

/** The smallest budget for thoughts that Anthropic takes. */
const LEAST_BUDGET = 1_024;

/**
 * Thoughts count as output: a budget for them that leaves no room for an answer becomes half of the limit, or nothing
 * where that is too small.
 */
function fitting(budget: unknown, tokens: number): unknown {
  if (budget === undefined || budget === null) return budget;
  if (typeof budget === 'number' && budget < tokens) return budget;
  const half = Math.floor(tokens / 2);
  return half >= LEAST_BUDGET ? half : null;
}

/** Undefined stays undefined, as a field that is absent. */
function fitThinking(body: Body, tokens: number): void {
  if (isObject(body.thinking)) {
    const budget = fitting(body.thinking.budget_tokens, tokens);
    if (budget === null) {
      delete body.thinking;
      // Clearing thoughts without thinking is an error.
      delete body.context_management;
    } else if (budget !== undefined) body.thinking = { ...body.thinking, budget_tokens: budget };
  }
  if (isObject(body.reasoning)) {
    const { max_tokens, ...rest } = body.reasoning;
    const budget = fitting(max_tokens, tokens);
    body.reasoning = typeof budget === 'number' ? { ...rest, max_tokens: budget } : rest;
  }
  const budget = fitting(body.thinking_budget, tokens);
  if (typeof budget === 'number') body.thinking_budget = budget;
  else delete body.thinking_budget;
}

function withBudget(config: Body, tokens: number): Body {
  const { thinkingConfig, ...rest } = config;
  if (!isObject(thinkingConfig)) return rest;
  const { thinkingBudget, ...thinking } = thinkingConfig;
  const budget = fitting(thinkingBudget, tokens);
  if (budget === null) return rest;
  return {
    ...rest,
    thinkingConfig: budget === undefined ? thinking : { ...thinking, thinkingBudget: budget },
  };
}
