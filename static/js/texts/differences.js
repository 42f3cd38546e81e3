// Marks what two texts do not share, by sentence and then by word. A sentence that the other text has too, wherever, is left
// alone; one that resembles another is compared with it word by word; the rest is marked whole. Blocks without a mark are
// folded to a line; a click unfolds one.
const MOST = 4_000_000; // comparisons of sentences, and cells of a table of words by words: a tenth of a second
const ALIKE = 0.5; // share of the words of two sentences that they have in common, from which on one is a version of the other
const BLOCKS = "p, li, tr, h1, h2, h3, h4, h5, h6, pre, blockquote, dt, dd";
const FOLDED = "p, li, pre, blockquote, table";
const words = new Intl.Segmenter(undefined, { granularity: "word" });
const ENDS = /^[.!?…。！？؟]+$/;

// [{words: [{node, start, end, word}], text, block}]: the sentences of what is read; formulas are left alone.
const sentencesOf = (place) => {
  const list = [], walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  let last = null, ended = true;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest(".formula, .visually-hidden")) continue;
    const nearest = node.parentElement.closest(BLOCKS), block = nearest && place.contains(nearest) ? nearest : place;
    for (const { segment, index, isWordLike } of words.segment(node.data)) {
      if (segment.includes("\n")) ended = true;
      if (!isWordLike && !segment.trim()) continue;
      if (ended && !ENDS.test(segment) || last?.block !== block) list.push(last = { words: [], block });
      last.words.push({ node, start: index, end: index + segment.length, word: segment });
      ended = ENDS.test(segment);
    }
  }
  for (const sentence of list) sentence.text = sentence.words.map(({ word }) => word).join(" ");
  return list;
};

// What is left of a and of b without the sentences that both have, each as often as the other has it.
const withoutEqual = (a, b) => {
  const left = new Map();
  for (const { text } of b) left.set(text, (left.get(text) ?? 0) + 1);
  return a.filter(({ text }) => !left.get(text) || !left.set(text, left.get(text) - 1));
};

const counted = ({ words }) => words.reduce((found, { word }) => found.set(word, (found.get(word) ?? 0) + 1), new Map());
const likeness = (a, b, x, y) => {
  let common = 0;
  for (const [word, times] of x) common += Math.min(times, y.get(word) ?? 0);
  return 2 * common / (a.words.length + b.words.length);
};

// Pairs of sentences of which one is a version of the other, the most alike first.
const versions = (a, b) => {
  const x = a.map(counted), y = b.map(counted), found = [], taken = new Set();
  for (let i = 0; i < a.length; i += 1) {
    for (let j = 0; j < b.length; j += 1) {
      const alike = likeness(a[i], b[j], x[i], y[j]);
      if (alike >= ALIKE) found.push([alike, i, j]);
    }
  }
  found.sort(([first], [second]) => second - first);
  return found.filter(([, i, j]) => !taken.has(`a${i}`) && !taken.has(`b${j}`) && taken.add(`a${i}`).add(`b${j}`))
    .map(([, i, j]) => [a[i], b[j]]);
};

// Which words of a and of b the other lacks, in the same order (longest common subsequence), as two lists.
const onlyIn = (a, b) => {
  const width = b.length + 1, common = new Uint16Array((a.length + 1) * width); // words that a from i and b from j share
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i].word === b[j].word
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lacking = [[], []];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i].word === b[j].word) { i += 1; j += 1; }
    else if (j === b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) lacking[0].push(a[i++]);
    else lacking[1].push(b[j++]);
  }
  return lacking;
};

// Two lists of words to mark, in the order of the texts; null where the texts are too long.
const lackingIn = (left, right) => {
  const a = withoutEqual(left, right), b = withoutEqual(right, left);
  if (a.length * b.length > MOST) return null;
  const lacking = [[], []], compared = new Set();
  for (const pair of versions(a, b)) {
    if (pair[0].words.length * pair[1].words.length > MOST) continue;
    onlyIn(pair[0].words, pair[1].words).forEach((list, side) => lacking[side].push(...list));
    pair.forEach((sentence) => compared.add(sentence));
  }
  [a, b].forEach((list, side) => list.filter((one) => !compared.has(one)).forEach((one) => lacking[side].push(...one.words)));
  return [left, right].map((list, side) => {
    const marked = new Set(lacking[side]);
    return list.flatMap((sentence) => sentence.words).filter((one) => marked.has(one));
  });
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

const fold = (place) => {
  for (const block of place.querySelectorAll(FOLDED)) {
    if (!block.querySelector("mark, img, [data-same]") && !block.closest("[data-same], td, th") && block.textContent.trim()) block.dataset.same = "";
  }
};

const clear = (place) => {
  for (const folded of place.querySelectorAll("[data-same]")) delete folded.dataset.same;
  for (const marked of place.querySelectorAll("mark")) marked.replaceWith(...marked.childNodes);
  place.normalize();
};

document.addEventListener("click", ({ target }) => { delete target.closest?.("[data-same]")?.dataset.same; });

// Returns what is to be said about it; word: of annotate/words.js.
export const showDifferences = (left, right, word) => {
  const lacking = lackingIn(sentencesOf(left), sentencesOf(right));
  if (!lacking) return word("too_long");
  const [a, b] = lacking.map(stretches);
  for (const stretch of [...a, ...b].reverse()) mark(stretch, word("different")); // from the end, so that places before stay true
  if (a.length + b.length) [left, right].forEach(fold);
  return a.length + b.length ? word("differences", { a: a.length, b: b.length }) : word("no_differences");
};
export const hideDifferences = (...places) => places.forEach(clear);
