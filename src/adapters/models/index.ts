import type { Model, TextModel } from '../../ports/index.ts';

/**
 * Asks models through the gateway for one value that matches a schema. The SDK is large, so it is loaded with the first
 * question.
 */
export function openModel(): Model {
  return {
    async ask(question) {
      const { openSdkModel } = await import('./model.ts');
      return openSdkModel().ask(question);
    },
  };
}

/** Asks models through the gateway for texts; loaded as `openModel` is. */
export function openTextModel(): TextModel {
  return {
    async write(question) {
      const { openSdkTextModel } = await import('./text.ts');
      return openSdkTextModel().write(question);
    },
  };
}
