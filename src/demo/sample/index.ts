export { copySample, SAMPLE_FILES } from './copy.ts';
export { ISSUE } from './issue.ts';
export { SAMPLE_MODELS, SCRIPTED_PRICES, SCRIPTS } from './scripts/index.ts';
