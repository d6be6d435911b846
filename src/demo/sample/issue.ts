/** An issue of the sample project, as one of its users would write it. */
export const ISSUE = {
  title: 'Notes with commas or quotes break the import',
  body: `I export my expenses from my bank, and since I started to use notes, tally does not read the file any more:

\`\`\`
date,category,amount,note
2024-03-03,household,129.00,"Lamp, bedroom"
2024-03-09,books,18.50,"""The Left Hand of Darkness"", used"
2024-03-15,gifts,45.00,"for Ada
(birthday)"
\`\`\`

\`\`\`
$ tally bank.csv
tally: row 2 has 5 cells, expected 4
\`\`\`

As far as I understand RFC 4180, all three are fine when the field is in quotes:

- a comma inside a quoted field belongs to the field,
- a quote inside a quoted field is written twice (\`""\`), and means one quote,
- a line break inside a quoted field belongs to the field too.

I would expect three expenses with the notes \`Lamp, bedroom\`, \`"The Left Hand of Darkness", used\` and the one with the line break. Files without quotes should go on working as they do now.
`,
} as const;
