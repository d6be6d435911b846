import type { Client } from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

/** One method for each verb of HTTP, whose paths, parameters, bodies and answers are those of the description. */
export type Runoff = Client<paths>;

export type Run = components['schemas']['Run'];
export type RunSummary = components['schemas']['RunSummary'];
export type CommandAnswer = components['schemas']['CommandAnswer'];
/** The `error` of an error response: `detail` says what happened and what to do. */
export type Problem = components['schemas']['Problem'];

/** What has become of a run. */
export type RunEvent = components['schemas']['RunEvent'];
/** What a coder did next. */
export type StepsEvent = components['schemas']['StepsEvent'];

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

export type Followed =
  | { readonly event: 'run'; readonly data: RunEvent }
  | { readonly event: 'steps'; readonly data: StepsEvent };

/** Which run is followed. */
export interface FollowOptions {
  readonly owner: string;
  readonly repo: string;
  readonly id: string;
  /** Letter of a candidate, to follow what its coder does, too. */
  readonly steps?: string;
  /** Ends it: the next event rejects with the reason. */
  readonly signal?: AbortSignal;
}

/**
 * The events of a run until it is over. A connection that breaks is opened again, and nothing is lost or doubled. Throws
 * a `RunoffProblem` for what waiting does not change, and other errors if the server cannot be reached at first.
 */
export function followRun(runoff: Runoff, options: FollowOptions): AsyncGenerator<Followed, void, undefined>;

/** The server answered with a problem; the message is what happened and what to do. */
export class RunoffProblem extends Error {
  readonly problem: Problem;
}
