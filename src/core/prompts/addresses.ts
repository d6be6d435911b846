import type { Omissions } from './omissions.ts';

/** Addresses that GitHub shows as a short name (`#12`, `owner/name@1a2b3c4`), a player or a card, and what follows in them. */
const SHORTENED =
  /(https?:\/\/github\.com\/(?:[\w.-]+\/[\w.-]+\/(?:(?:issues|pull|discussions)\/\d+|commit\/[0-9a-f]{7,64}|(?:compare|blob|tree)\/[^\s<>?#"')\]]+)|user-attachments\/(?:assets|files)\/[\w./-]+))([/?#][^\s<>"')\]]*)/gi;
/** What GitHub itself puts behind them. */
const OWN_ENDS =
  /^(?:\/(?:files|commits|checks))?\/?(?:#(?:issuecomment-|discussion_r|discussioncomment-|pullrequestreview-|event-|r)\d{1,12}|#L\d{1,7}(?:C\d{1,5})?(?:-L\d{1,7}(?:C\d{1,5})?)?|#diff-[0-9a-f]{32,64}(?:[LR]\d{1,7})?)?[.,;:!?]*$/;

/** Text in which addresses say no more than the short name that GitHub shows for them. */
export const shownAddresses = (text: string, omissions: Omissions): string =>
  text.replace(SHORTENED, (whole, address: string, end: string) =>
    OWN_ENDS.test(end) ? whole : address + omissions.leave(end.length),
  );
