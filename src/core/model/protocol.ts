/** Wire protocols that the gateway speaks. */
export const MODEL_PROTOCOLS = ['anthropic', 'openai-chat', 'openai-responses', 'gemini'] as const;
export type ModelProtocol = (typeof MODEL_PROTOCOLS)[number];
