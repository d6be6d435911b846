import {
  BY_REFERENCE,
  bytes,
  either,
  flag,
  isObject,
  jsonValue,
  listOf,
  mustBeUnset,
  object,
  omit,
  type Rule,
  scalar,
  type ToolTypes,
  text,
  tool,
} from './rules.ts';

// Google's generateContent, as sent by gemini, pi, opencode and the AI SDK (test/adapters/gateway/recorded).

/** Google accepts two spellings of every field, so a rule must cover both. */
export const camel = (name: string): string =>
  name.replaceAll(/(?<=[a-z\d])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const fields = (of: Parameters<typeof object>[0]): Rule => object(of, camel);
/** Google accepts a single value as a list of one. */
const oneOrMore =
  (of: Rule): Rule =>
  (value, findings) =>
    value === null ? undefined : listOf(of)(Array.isArray(value) ? value : [value], findings);

const BLOB = fields({ mimeType: text, data: bytes, displayName: text });
const PART_FIELDS = {
  text,
  thought: flag,
  thoughtSignature: text,
  inlineData: BLOB,
  functionCall: fields({ id: text, name: text, args: jsonValue }),
  functionResponse: fields({
    id: text,
    name: text,
    response: jsonValue,
    parts: oneOrMore((value, findings) => GEMINI_PART(value, findings)),
    willContinue: flag,
    scheduling: text,
  }),
  mediaResolution: either({ string: text, object: fields({ level: text, numTokens: scalar }) }),
  videoMetadata: omit,
  partMetadata: omit,
  fileData: mustBeUnset(BY_REFERENCE),
} as const;

/** The fields of a part determine its kind: a part of an unknown kind is rejected, not emptied. */
const GEMINI_PART: Rule = (value, findings) => {
  const other = isObject(value) && Object.keys(value).some((key) => !Object.hasOwn(PART_FIELDS, camel(key)));
  return other
    ? mustBeUnset('a part of a message that is on no list')(true, findings)
    : fields(PART_FIELDS)(value, findings);
};
const CONTENT: Rule = fields({ role: text, parts: oneOrMore(GEMINI_PART) });

/** Function declarations only: every other tool runs at Google. One object may contain several kinds of tools. */
const FUNCTIONS: Rule = (value, findings) => {
  const kept = fields({
    functionDeclarations: oneOrMore(
      fields({
        name: text,
        description: text,
        parameters: jsonValue,
        parametersJsonSchema: jsonValue,
        response: jsonValue,
        responseJsonSchema: jsonValue,
        behavior: text,
      }),
    ),
  })(value, findings);
  const declared = isObject(kept) ? kept.functionDeclarations : undefined;
  return Array.isArray(declared) && declared.length > 0 ? kept : undefined;
};
const GEMINI_TOOLS: ToolTypes = () => FUNCTIONS;

const GENERATION: Rule = fields({
  temperature: scalar,
  topP: scalar,
  topK: scalar,
  seed: scalar,
  maxOutputTokens: scalar,
  stopSequences: listOf(text),
  presencePenalty: scalar,
  frequencyPenalty: scalar,
  responseMimeType: text,
  responseSchema: jsonValue,
  responseJsonSchema: jsonValue,
  _responseJsonSchema: jsonValue,
  thinkingConfig: fields({ includeThoughts: flag, thinkingBudget: scalar, thinkingLevel: text }),
  mediaResolution: text,
  // Several answers, or images and speech, which have prices of their own.
  candidateCount: omit,
  responseModalities: omit,
  speechConfig: omit,
  imageConfig: omit,
});

const CALL = {
  contents: oneOrMore(CONTENT),
  systemInstruction: CONTENT,
  tools: oneOrMore(tool(GEMINI_TOOLS)),
  toolConfig: fields({ functionCallingConfig: fields({ mode: text, allowedFunctionNames: listOf(text) }) }),
  safetySettings: listOf(fields({ category: text, threshold: text })),
  generationConfig: GENERATION,
  cachedContent: mustBeUnset('the field cachedContent'),
  // The path names the model.
  model: omit,
  serviceTier: omit,
  store: omit,
  labels: omit,
} as const;

/** A request to count tokens contains the request whose tokens are counted. */
export const GEMINI_BODY: Rule = fields({ ...CALL, generateContentRequest: fields(CALL) });
