export { copySample, ISSUE, makeSampleRepository, SAMPLE_FILES } from './repository.ts';
export { SAMPLE_MODELS, SCRIPTED_PRICES, SCRIPTS } from './scripts.ts';
