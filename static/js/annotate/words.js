// What the scripts say, in the page's language (annotation/templatetags/texts.py). What stands in braces is filled in.
const words = JSON.parse(document.getElementById("words").textContent);

export const word = (name, values = {}) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
