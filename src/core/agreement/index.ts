export { agreement } from './agreement.ts';
export { normalised } from './normalised.ts';
export { staticScore } from './static-score.ts';
export * from './types.ts';
export { useOf } from './uses.ts';
