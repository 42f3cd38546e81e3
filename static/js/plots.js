"use strict";
// Under each chart of a page, two buttons that save it: as SVG with the colours that it has here, and as PNG at three times its
// size.
const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-size", "font-weight", "paint-order"];

const alone = (chart) => {
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
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  return new XMLSerializer().serializeToString(copy);
};

const asPicture = async (svg, { width, height }) => {
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
    SVG: async () => new Blob([alone(chart)], { type: "image/svg+xml" }),
    PNG: async () => asPicture(alone(chart), chart.viewBox.baseVal),
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
