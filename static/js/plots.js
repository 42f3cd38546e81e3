"use strict";
// Under each chart of a page, two buttons that save it: as SVG with the colours that it has here, and as PNG at three times its
// size. Below it stand the figure's caption and what its page has to say of the numbers (`data-said`), which so leave with it.
const LINE = 14, LETTER = 6;  // units of a line of text at 10, and of a letter at most, on average
const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-size", "font-weight", "paint-order"];

const wrapped = (text, most) => text.split(/\s+/).reduce((lines, word) => {
  const longer = `${lines.at(-1)} ${word}`.trim();
  return longer.length > most && lines.at(-1) ? [...lines, word] : [...lines.slice(0, -1), longer];
}, [""]);

const saidBelow = (figure, width) =>
  [figure.querySelector("figcaption")?.textContent ?? "", ...(figure.dataset.said ?? "").split("\n")]
    .map((text) => text.trim()).filter(Boolean).flatMap((text) => wrapped(text, Math.floor((width - 16) / LETTER)));

const write = (copy, lines, top) => lines.forEach((line, i) => {
  const text = document.createElementNS(copy.namespaceURI, "text");
  for (const [name, value] of Object.entries({ x: 8, y: top + LINE * (i + 1), "font-size": 10, fill: getComputedStyle(document.body).color })) text.setAttribute(name, value);
  text.textContent = line;
  copy.append(text);
});

const alone = (figure) => {
  const chart = figure.querySelector("svg.chart");
  const copy = chart.cloneNode(true), box = chart.viewBox.baseVal;
  const paper = document.createElementNS(copy.namespaceURI, "rect");
  const drawn = [...chart.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(drawn[i]);
    for (const name of PROPERTIES) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: getComputedStyle(document.documentElement).backgroundColor })) paper.setAttribute(name, value);
  copy.prepend(paper);
  copy.removeAttribute("class");
  copy.setAttribute("xmlns", copy.namespaceURI);
  copy.setAttribute("font-family", "Inter, sans-serif");
  const said = saidBelow(figure, box.width), height = box.height + LINE * (said.length + 1);
  write(copy, said, box.height);
  copy.setAttribute("viewBox", `0 0 ${box.width} ${height}`);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", height);
  return { svg: new XMLSerializer().serializeToString(copy), width: box.width, height };
};

const asPicture = async ({ svg, width, height }) => {
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  [canvas.width, canvas.height] = [3 * width, 3 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
};

const save = (blob, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

const offer = (figure) => {
  const chart = figure.querySelector("svg.chart"), name = figure.dataset.plot, row = document.createElement("p");
  if (!chart || figure.querySelector(".save")) return;
  const makers = {
    SVG: async () => new Blob([alone(figure).svg], { type: "image/svg+xml" }),
    PNG: async () => asPicture(alone(figure)),
  };
  row.className = "save";
  for (const [format, make] of Object.entries(makers)) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = format;
    button.setAttribute("aria-label", `Save ${name} as ${format}`);
    button.addEventListener("click", async () => save(await make(), `${name}.${format.toLowerCase()}`));
    row.append(button, " ");
  }
  figure.append(row);
};

const offerAll = () => document.querySelectorAll("figure[data-plot]").forEach(offer);
offerAll();
document.addEventListener("comparena:changed", offerAll); // live.js brought new figures
