export { type BodyBudget, type HeldBody, type Holding, openBodyBudget, toDrop } from './body-budget.ts';
export { type Added, type BodyBytes, openBodyBytes } from './body-bytes.ts';
