import {
  type Ballot,
  type BallotQuestion,
  ballotQuestion,
  type CastVote,
  type ContestRecords,
  countedVotes,
  lastVote,
  type NewVote,
  nextQuestion,
  openPairs,
  pairKey,
  personBallots,
  recordLine,
  type SamplePair,
  type Standing,
  standingOf,
  VOTES_FILE,
  type VoteRecord,
  type Voter,
  voteId,
  voterKey,
} from '../../core/arena/index.ts';
import type { Clock, ContestFolder } from '../../ports/index.ts';

type Person = Extract<Voter, { kind: 'person' }>;

interface VotingParts {
  readonly folder: Pick<ContestFolder, 'append' | 'sha256'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** What a person says about a pair of samples, without its id. */
interface NewBallot {
  readonly left: string;
  readonly right: string;
  readonly verdict: CastVote['verdict'];
  readonly resultsShown: boolean;
}

/** The votes of one person on one version of a contest. Each is on the disk before it counts. */
export class Voting {
  readonly #parts: VotingParts;
  readonly #records: ContestRecords;
  readonly #standing: Standing;
  readonly #voter: Person;
  #votes: readonly VoteRecord[];
  #ballots: readonly Ballot[];
  #question: BallotQuestion | null;

  constructor(parts: VotingParts, records: ContestRecords, voter: Person) {
    this.#parts = parts;
    this.#records = records;
    this.#voter = voter;
    this.#standing = standingOf(records);
    this.#votes = records.votes;
    this.#ballots = this.#standing.people;
    this.#question = this.#next();
  }

  /** What does not count and which tasks are left out. */
  get standing(): Standing {
    return this.#standing;
  }

  /** The present question; null if this person has decided or skipped every pair. */
  question(): BallotQuestion | null {
    return this.#question;
  }

  /** The question on a pair that this person has neither decided nor skipped; null for any other key. */
  questionOn(key: string): BallotQuestion | null {
    const pair = this.#standing.pairsByKey.get(key);
    return pair && !pair.alike && this.verdictOn(key) === null ? this.#ask(pair) : null;
  }

  /** The question on a pair that this person has decided or skipped; null for any other key. */
  decidedQuestion(key: string): BallotQuestion | null {
    const pair = this.#standing.pairsByKey.get(key);
    return pair && this.verdictOn(key) !== null ? this.#ask(pair) : null;
  }

  /** What this person says about a pair; null if nothing. */
  verdictOn(key: string): CastVote['verdict'] | null {
    return this.#own().findLast(({ left, right }) => pairKey(left, right) === key)?.verdict ?? null;
  }

  /** This person's last vote that counts; null if there is none. */
  last(): CastVote | null {
    return lastVote(this.#votes, this.#records.digest, this.#voter);
  }

  /** Pairs that this person decided or skipped, and pairs that are left. */
  progress(): { readonly done: number; readonly open: number } {
    const voter = voterKey(this.#voter);
    return {
      done: this.#ballots.filter((one) => one.voter === voter).length,
      open: openPairs(this.#standing, this.#ballots, voter).length,
    };
  }

  /** Stores a verdict on the present question. Rejects if it cannot be stored; the question stays then. */
  async cast(verdict: CastVote['verdict'], resultsShown: boolean): Promise<void> {
    const asked = this.#question;
    if (asked === null) return;
    await this.record({ left: asked.left.id, right: asked.right.id, verdict, resultsShown });
  }

  /** Stores a verdict on any pair. Returns why it was not stored, as a sentence; null if it was. */
  async record({ left, right, verdict, resultsShown }: NewBallot): Promise<string | null> {
    const pair = this.#standing.pairsByKey.get(pairKey(left, right));
    if (!pair) return this.#whyNoPair(left, right);
    const { digest: contest } = this.#records;
    const by = this.#voter;
    await this.#append({
      version: 1,
      kind: 'vote',
      contest,
      task: pair.task,
      left,
      right,
      verdict,
      by,
      resultsShown,
      at: this.#now(),
    });
    this.#question = this.#next();
    return null;
  }

  /** Takes back this person's last vote; its question is the present one again. False if there is none. */
  async undo(): Promise<boolean> {
    const last = this.last();
    if (last === null) return false;
    await this.#append({ version: 1, kind: 'undo', vote: last.id, by: this.#voter, at: this.#now() });
    const pair = this.#standing.pairsByKey.get(pairKey(last.left, last.right));
    this.#question = (pair && this.#ask(pair)) ?? this.#next();
    return true;
  }

  #own = (): readonly CastVote[] => {
    const { digest, samples } = this.#records;
    const { votes } = countedVotes(this.#votes, digest, samples);
    return votes.filter(({ by }) => voterKey(by) === voterKey(this.#voter));
  };

  #next = (): BallotQuestion | null =>
    nextQuestion({ contest: this.#records.contest, standing: this.#standing }, this.#ballots, this.#voter);

  #ask = (pair: SamplePair): BallotQuestion | null =>
    ballotQuestion({ contest: this.#records.contest, standing: this.#standing }, pair);

  #now = (): string => new Date(this.#parts.clock.now()).toISOString();

  async #append(vote: NewVote): Promise<void> {
    const { folder } = this.#parts;
    const record: VoteRecord = { ...vote, id: voteId(vote, folder.sha256) };
    await folder.append(VOTES_FILE, recordLine(record));
    this.#votes = [...this.#votes, record];
    const { digest, samples } = this.#records;
    const { votes } = countedVotes(this.#votes, digest, samples);
    this.#ballots = personBallots(votes, this.#standing.pairsByKey);
  }

  #whyNoPair(left: string, right: string): string {
    const { samples, digest } = this.#records;
    const found = [left, right].map((id) => samples.find((one) => one.id === id));
    const missing = [left, right].find((_, at) => !found[at]);
    if (missing !== undefined) return `The contest has no sample ${missing}.`;
    if (found.some((one) => one?.contest !== digest))
      return `The samples ${left} and ${right} were made for another version of the contest.`;
    return `The samples ${left} and ${right} are not two answers of different contestants to one task that is rated.`;
  }
}
