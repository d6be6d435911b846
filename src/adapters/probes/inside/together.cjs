'use strict';
// Arguments that belong together: two texts that start with the same numbers, such as versions or dates, still do after
// a number is changed in both. Changing only one of them would test something else.

const MAX_NUMBERS = 4;
const MAX_LENGTH = 200;
const NUMBERS = /\d+/g;

/** Similar lists of arguments, in which a number that texts share at the same position is changed in all of them. */
function changedTogether(args) {
  const texts = args.flatMap((arg, at) =>
    typeof arg === 'string' && arg.length <= MAX_LENGTH ? [{ at, numbers: arg.match(NUMBERS) ?? [] }] : [],
  );
  if (texts.length < 2) return [];
  const found = [];
  for (let place = 0; place < MAX_NUMBERS; place += 1) {
    const [number] = texts.map(({ numbers }) => numbers[place]);
    if (number === undefined || number.length > 9) break;
    if (texts.some(({ numbers }) => numbers[place] !== number)) break;
    for (const other of [Number(number) + 1, 0]) {
      if (String(other) === number) continue;
      const changed = [...args];
      for (const { at } of texts) changed[at] = withNumber(args[at], place, other);
      found.push(changed);
    }
  }
  return found;
}

function withNumber(text, place, number) {
  let nth = -1;
  return text.replace(NUMBERS, (own) => {
    nth += 1;
    return nth === place
      ? String(number).padStart(own.startsWith('0') && own !== '0' ? own.length : 1, '0')
      : own;
  });
}

module.exports = { changedTogether };
