import type { ModelProtocol } from '../../../core/settings/index.ts';
import { ANTHROPIC } from './anthropic.ts';
import { CHAT } from './chat.ts';
import { GEMINI_BODY } from './gemini.ts';
import { RESPONSES } from './responses.ts';
import { type Body, type Findings, isObject, type Rule } from './rules.ts';

export { camel } from './gemini.ts';
export { type Body, isObject } from './rules.ts';

const BODY_RULES: Readonly<Record<ModelProtocol, Rule>> = {
  anthropic: ANTHROPIC,
  gemini: GEMINI_BODY,
  'openai-chat': CHAT,
  'openai-responses': RESPONSES,
};

type CheckedBody =
  | {
      readonly kind: 'may-pass';
      readonly body: Body;
      readonly limit: OutputLimit;
      /** Names of fields that are on no list and were dropped. The client chose them. */
      readonly unknown: readonly string[];
    }
  /** It asks for something that is not available here. */
  | { readonly kind: 'forbidden'; readonly why: string }
  | { readonly kind: 'invalid'; readonly why: string };

/** The call that a body is for. */
interface Purpose {
  readonly protocol: ModelProtocol;
  readonly model: string;
  /** Whether it only counts the tokens of a request, which generates nothing. */
  readonly counting: boolean;
  readonly dialect: Dialect;
}

/**
 * Builds a body from the fields that are on the list of its protocol. A sandbox has no network, so it must not use the
 * provider's; and fields that cost more than the listed price are dropped. docs/decisions/0050 says how each field is
 * decided.
 */
export function checkBody(sent: Body, purpose: Purpose): CheckedBody {
  const { protocol, counting, dialect } = purpose;
  const findings: Findings = { refusal: null, unknown: new Set(), hostedTools: false };
  const kept = BODY_RULES[protocol](sent, findings);
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

/** A choice may name a tool that was dropped, and any choice without tools is an error. */
function leaveOutChoice(body: Body): void {
  const none = !Array.isArray(body.tools) || body.tools.length === 0;
  if (none) {
    delete body.tools;
    delete body.toolConfig;
  }
  if (none || isObject(body.tool_choice)) delete body.tool_choice;
}

/** Sets the fields that we decide, whatever the client sent. */
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
    // A stream reports its usage only if asked to.
    if (body.stream === true && !dialect.strict) body.stream_options = { include_usage: true };
    else delete body.stream_options;
  },
  'openai-responses'(body, { model }) {
    body.model = model;
    // The default is true.
    body.store = false;
  },
};

/** How a provider differs from others with the same protocol. */
export interface Dialect {
  /** Whether it is the vendor of the protocol: it accepts the newest fields and allows long answers. */
  readonly original: boolean;
  /** Whether it rejects `stream_options` and `max_completion_tokens`; its streams always report their usage. */
  readonly strict: boolean;
}

/** The maximum number of output tokens of a request, and how to write the number that is booked. */
export interface OutputLimit {
  /** A positive integer. Our default if the request does not contain it. */
  readonly asked: number;
  set(tokens: number): void;
}

/** If a request has no limit: the maximum that current models of these vendors write in one turn. */
const UNSTATED = 32_000;
/**
 * For imitators. A number above a model's own maximum is an error there; this is the maximum of DeepSeek's chat model,
 * and it leaves space in the context of a local model. Our default.
 */
const UNSTATED_ELSEWHERE = 8_192;

type ReadLimit =
  | { readonly kind: 'limit'; readonly field: string; readonly asked: number | null }
  | { readonly kind: 'invalid'; readonly why: string };

/** Every field that limits the output of an answer, by protocol. */
const FIELDS: Readonly<Record<ModelProtocol, readonly [string, ...string[]]>> = {
  anthropic: ['max_tokens'],
  'openai-chat': ['max_tokens', 'max_completion_tokens'],
  'openai-responses': ['max_output_tokens'],
  gemini: ['maxOutputTokens'],
};

const isLimit = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** Reads the limit of a body that has been through its rules. Null means "not stated", as in OpenAI's reference. */
function readLimit(protocol: ModelProtocol, body: Body): ReadLimit {
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

/** Writes the limit into the one field that the model reads, and adjusts thinking budgets. */
function outputLimit(
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

/** Servers that imitate OpenAI may only know `max_tokens`, not `max_completion_tokens`. */
function chatField(protocol: ModelProtocol, field: string, asked: number | null, dialect: Dialect): string {
  if (protocol !== 'openai-chat') return field;
  if (dialect.strict) return 'max_tokens';
  return asked === null && dialect.original ? 'max_completion_tokens' : field;
}

/** The smallest thinking budget that Anthropic accepts. */
const MIN_BUDGET = 1_024;

/**
 * Thoughts count as output: a thinking budget that leaves no space for an answer becomes half of the limit, or nothing
 * if that is too small.
 */
function fitting(budget: unknown, tokens: number): unknown {
  if (budget === undefined || budget === null) return budget;
  if (typeof budget === 'number' && budget < tokens) return budget;
  const half = Math.floor(tokens / 2);
  return half >= MIN_BUDGET ? half : null;
}

/** Undefined, an absent field, stays undefined. */
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
