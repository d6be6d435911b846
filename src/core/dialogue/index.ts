export {
  type Dialogue,
  type Inquiry,
  type NewReply,
  NO_DIALOGUE,
  type Reply,
  type Settled,
} from './types.ts';
