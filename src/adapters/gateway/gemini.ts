import { type Body, entries, isObject, type OutputLimit, wholeNumber } from './requests.ts';

/** What goes on to Google: any other field may cost more, remember something, or be read from somewhere else. */
const FIELDS = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'generationConfig'];
/** Ask for several answers, or for pictures and speech, which have prices of their own. */
const DEARER = ['candidateCount', 'responseModalities', 'speechConfig', 'imageConfig'];

export const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Google takes every field in two spellings, so that a rule for one of them would be none. */
const camelKeys = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).map(([key, value]) => [camel(key), value]));

export type GeminiRequest =
  | { readonly kind: 'may-pass'; readonly body: Body }
  | { readonly kind: 'forbidden'; readonly why: string };

/** Makes a request of the fields that may pass, in one spelling, for the model that the path names. */
export function geminiRequest(sent: Body, model: string): GeminiRequest {
  const given = camelKeys(sent);
  if (isObject(given.generateContentRequest)) {
    const inner = geminiRequest(given.generateContentRequest, model);
    if (inner.kind === 'forbidden') return inner;
    return {
      kind: 'may-pass',
      body: { generateContentRequest: { model: `models/${model}`, ...inner.body } },
    };
  }
  if (given.cachedContent) return { kind: 'forbidden', why: 'the field cachedContent' };
  const contents = [...entries(given.contents), ...entries(given.systemInstruction)];
  if (contents.some(fetches)) return { kind: 'forbidden', why: 'content by reference' };
  const body: Body = Object.fromEntries(
    FIELDS.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])),
  );
  if (body.generationConfig !== undefined) body.generationConfig = generationConfig(body.generationConfig);
  ownTools(body);
  return { kind: 'may-pass', body };
}

/** Function declarations only: every other tool runs at Google, which has a network. */
function ownTools(body: Body): void {
  if (body.tools === undefined) return;
  const tools = entries(body.tools)
    .filter(isObject)
    .map((tool) => camelKeys(tool).functionDeclarations)
    .filter((functions) => entries(functions).length > 0)
    .map((functionDeclarations) => ({ functionDeclarations }));
  if (tools.length > 0) {
    body.tools = tools;
    return;
  }
  delete body.tools;
  delete body.toolConfig;
}

function generationConfig(given: unknown): Body {
  const config = isObject(given) ? camelKeys(given) : {};
  for (const field of DEARER) delete config[field];
  return config;
}

/** Looks at parts, and at the parts of a function's answer; never into arguments, where any JSON is legitimate. */
function fetches(content: unknown): boolean {
  if (!isObject(content)) return false;
  return entries(content.parts).some((part) => {
    if (!isObject(part)) return false;
    // Each of both spellings by itself: in one object the second would hide the first.
    return Object.entries(part).some(([key, value]) => {
      if (camel(key) === 'fileData') return value !== null;
      return camel(key) === 'functionResponse' && fetches(value);
    });
  });
}

/** The limit counts thoughts too. */
export function geminiLimit(body: Body): OutputLimit {
  const config = (): Body => (isObject(body.generationConfig) ? body.generationConfig : {});
  return {
    asked: wholeNumber(config().maxOutputTokens),
    set(tokens) {
      const { thinkingConfig, ...rest } = config();
      const thinking = isObject(thinkingConfig) ? camelKeys(thinkingConfig) : null;
      const fits = thinking && !(Number(thinking.thinkingBudget ?? 0) >= tokens);
      body.generationConfig = {
        ...rest,
        ...(fits ? { thinkingConfig: thinking } : {}),
        maxOutputTokens: tokens,
      };
    },
  };
}
