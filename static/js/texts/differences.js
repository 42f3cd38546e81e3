// Marks the words of two texts that the other does not have in the same order (longest common subsequence).
const MOST = 9_000_000; // cells of the table of words by words: 3,000 words each, a tenth of a second
const words = new Intl.Segmenter(undefined, { granularity: "word" });

// [{node, start, end, word}] of what is read; formulas are left alone.
const wordsOf = (place) => {
  const list = [], walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest(".formula, .visually-hidden")) continue;
    for (const { segment, index, isWordLike } of words.segment(node.data)) {
      if (isWordLike || segment.trim()) list.push({ node, start: index, end: index + segment.length, word: segment });
    }
  }
  return list;
};

// Which of a and of b the other lacks, as two lists.
const onlyIn = (a, b) => {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head].word === b[head].word) head += 1;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail).word === b.at(-1 - tail).word) tail += 1;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail), width = y.length + 1;
  if ((x.length + 1) * width > MOST) return null;
  const common = new Uint16Array((x.length + 1) * width); // words that x from i and y from j have in common
  for (let i = x.length - 1; i >= 0; i -= 1) {
    for (let j = y.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = x[i].word === y[j].word
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lacking = [[], []];
  let i = 0, j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i].word === y[j].word) { i += 1; j += 1; }
    else if (j === y.length || (i < x.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) lacking[0].push(x[i++]);
    else lacking[1].push(y[j++]);
  }
  return lacking;
};

// Neighbours in one piece of text become one stretch, the space between them too.
const stretches = (list) => {
  const joined = [];
  for (const { node, start, end } of list) {
    const last = joined.at(-1);
    if (last?.node === node && !node.data.slice(last.end, start).trim()) last.end = end;
    else joined.push({ node, start, end });
  }
  return joined;
};

const mark = ({ node, start, end }, about) => {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, end);
  const marked = document.createElement("mark");
  marked.dataset.about = about; // for screen readers (comparena.css)
  range.surroundContents(marked);
};

const clear = (place) => {
  for (const marked of place.querySelectorAll("mark")) marked.replaceWith(...marked.childNodes);
  place.normalize();
};

// Returns what is to be said about it; word: of annotate/words.js.
export const showDifferences = (left, right, word) => {
  const lacking = onlyIn(wordsOf(left), wordsOf(right));
  if (!lacking) return word("too_long");
  const [a, b] = lacking.map(stretches);
  for (const stretch of [...a, ...b].reverse()) mark(stretch, word("different")); // from the end, so that places before stay true
  return a.length + b.length ? word("differences", { a: a.length, b: b.length }) : word("no_differences");
};
export const hideDifferences = (...places) => places.forEach(clear);
