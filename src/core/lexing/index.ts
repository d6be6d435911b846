export { type LexicalSyntax, lexicalSyntaxOf, PLAIN_SYNTAX } from './languages.ts';
export { type LexedPart, LineLexer, type OpenBlock } from './line-lexer.ts';
