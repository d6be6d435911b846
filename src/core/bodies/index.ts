export { type BodyBudget, type HeldBody, openBodyBudget } from './body-budget.ts';
export { type Added, type BodyBytes, openBodyBytes } from './body-bytes.ts';
export { type Holding, toDrop } from './fair-share.ts';
