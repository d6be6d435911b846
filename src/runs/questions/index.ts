export {
  closeQuestions,
  findComment,
  findOwnComment,
  firstQuestionText,
  inquiryOf,
  type OwnComment,
  questionCommentOf,
  questionText,
  reportUnrecognized,
  restoreQuestion,
} from './question.ts';
export { REPLY_TOPIC, settleQuestions } from './settle-questions.ts';
