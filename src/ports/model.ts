import type { z } from 'zod';
import type { Lease, ModelRoute } from './gateway.ts';

export interface Question<T> {
  readonly route: ModelRoute;
  readonly lease: Lease;
  readonly instructions: string;
  readonly prompt: string;
  readonly schema: z.ZodType<T>;
  readonly signal?: AbortSignal;
  /** How often the model is shown what was wrong with its answer and asked again; absent: twice. */
  readonly repairs?: number;
}

export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'failed'; readonly why: string };

/** Asks a model for one schema-checked value. Never rejects for what the model or provider did. */
export interface Model {
  ask<T>(question: Question<T>): Promise<Answer<T>>;
}
