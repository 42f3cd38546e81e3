"use strict";
// Beside each link to a chart in SVG, a button that saves it as PNG. The browser draws it, with the fonts of this site, at four
// times its size: 1440 pixels wide.
const SCALE = 4;

const inBase64 = async (address) => {
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => { reader.onload = resolve; reader.onerror = reject; });
  reader.readAsDataURL(await (await fetch(address)).blob());
  await read;
  return reader.result;
};

// Put in as text: an element of this page would come under its policy against inline styles.
const withFonts = async (svg, fonts) => {
  const faces = await Promise.all(fonts.map(async ({ address, range }) =>
    `@font-face { font-family: Inter; font-weight: 100 900; unicode-range: ${range}; src: url("${await inBase64(address)}"); }`));
  return svg
    .replace(/(<svg [^>]*>)/, `$1<style>${faces.join("\n")}</style>`)
    .replace(/ font-family="/, ' font-family="Inter, ');
};

const interOfThisSite = () =>
  [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => ({
    family: rule.style.getPropertyValue("font-family"),
    range: rule.style.getPropertyValue("unicode-range"),
    address: new URL(/url\("?([^")]+)/.exec(rule.style.getPropertyValue("src"))[1], sheet.href).href,
  }))).filter((face) => face.family.includes("Inter"));

const asPng = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.statusText);
  const drawn = await withFonts(await answer.text(), interOfThisSite());
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(drawn)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.naturalWidth;
  canvas.height = SCALE * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
};

for (const link of document.querySelectorAll("a[data-png]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button button-quiet";
  button.textContent = "PNG chart";
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const saved = document.createElement("a");
      saved.href = URL.createObjectURL(await asPng(link.href));
      saved.download = link.dataset.png;
      saved.click();
      setTimeout(() => URL.revokeObjectURL(saved.href), 60_000);
    } catch {
      button.textContent = "PNG chart: not drawn; save the SVG chart instead";
    }
    button.disabled = false;
  });
  link.after(" ", button);
}
