import type { Model } from '../../ports/index.ts';

/**
 * Asks models through the gateway for one value that fits a schema. The SDK is loaded with the first question: it is
 * large, and an idle App asks none.
 */
export function openModel(): Model {
  return {
    async ask(question) {
      const { openSdkModel } = await import('./model.ts');
      return openSdkModel().ask(question);
    },
  };
}
