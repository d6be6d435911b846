import { asList, asObject, event, type Json, pieces, type Speech, type Wire } from './script.ts';

/** Gemini's generateContent. */
export const gemini: Wire = {
  ask(body) {
    const parts = asList(body.contents).flatMap((content) => asList(content.parts));
    const config = asObject(body.generationConfig);
    return {
      results: parts.filter((part) => part.functionResponse !== undefined).length,
      tools: asList(body.tools)
        .flatMap((tool) => asList(tool.functionDeclarations))
        .map(({ name, parametersJsonSchema, parameters }) => ({
          name: String(name),
          schema: parametersJsonSchema ? asObject(parametersJsonSchema) : lowerTypes(asObject(parameters)),
          freeText: false,
        })),
      structured: config.responseMimeType === 'application/json' ? { kind: 'text' } : null,
    };
  },

  // Gemini bills the keeping of a cache by the hour and reports no writing to it.
  reported: (usage) => ({ ...usage, tokensWritten: 0 }),

  failure: (status, message) => ({
    error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'FAILED_PRECONDITION' },
  }),

  whole: (speech) => last(speech, speech.answer.text ? [{ text: speech.answer.text }] : []),

  stream: (speech) => [
    ...pieces(speech.answer.text).map((text) =>
      event(null, {
        candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }],
        modelVersion: speech.model,
        responseId: speech.id,
      }),
    ),
    event(null, last(speech, [])),
  ],
};

/** The answer's end: the call if there is one, and the usage. */
function last({ answer, usage, model, id }: Speech, text: readonly Json[]): Json {
  const call = answer.call ? [{ functionCall: { name: answer.call.tool, args: answer.call.input } }] : [];
  const parts = [...text, ...call];
  const { tokensIn, tokensCached, tokensOut, tokensReasoning } = usage;
  return {
    candidates: [
      {
        content: { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    // Thinking is counted beside the answer, not in it.
    usageMetadata: {
      promptTokenCount: tokensIn,
      cachedContentTokenCount: tokensCached,
      candidatesTokenCount: tokensOut - tokensReasoning,
      thoughtsTokenCount: tokensReasoning,
      totalTokenCount: tokensIn + tokensOut,
    },
    modelVersion: model,
    responseId: id,
  };
}

/** Gemini's own schemas write `STRING` where JSON Schema has `string`. */
function lowerTypes(schema: Json): Json {
  const properties = Object.entries(asObject(schema.properties)).map(
    ([name, value]) => [name, lowerTypes(asObject(value))] as const,
  );
  return {
    ...schema,
    ...(typeof schema.type === 'string' ? { type: schema.type.toLowerCase() } : {}),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
  };
}
