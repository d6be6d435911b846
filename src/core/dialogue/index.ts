export { asked, MOST_QUESTIONS, nextInquiry, openInquiry, type Wanted, withAssumed } from './inquire.ts';
export { type Fit, fits, type Next, settle, span, whyStopped } from './settle.ts';
export {
  type Dialogue,
  type Inquiry,
  type NewReply,
  NO_DIALOGUE,
  type Reply,
  type Settled,
} from './types.ts';
