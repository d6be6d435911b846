import type { Client } from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

/** One method for each verb of HTTP, whose paths, parameters, bodies and answers are those of the description. */
export type Runoff = Client<paths>;

export type Run = components['schemas']['Run'];
export type RunSummary = components['schemas']['RunSummary'];
export type CommandAnswer = components['schemas']['CommandAnswer'];
/** The `error` of an error response: `detail` says what happened and what to do. */
export type Problem = components['schemas']['Problem'];

export interface RunoffOptions {
  /** Address of the server, such as `https://runoff.example.com`. */
  readonly url: string;
  /** A token of Runoff, or a token of a GitHub user. */
  readonly token: string;
  /** What requests are sent with. Default: the runtime's own. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** Sends nothing before the first call. */
export function openRunoff(options: RunoffOptions): Runoff;
