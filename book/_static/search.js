/* Sphinx fetches the pages that it found, to show the words around; a disk has no fetch, so their texts come from a
   script, search-texts.js. */
window.fetch = async address => {
  const page = address.replace(/^\.\//, "").replace(/\.html.*/, "");
  const main = Object.assign(document.createElement("div"), {textContent: SEARCH_TEXTS[page] ?? ""});
  main.setAttribute("role", "main");
  return {text: async () => main.textContent && main.outerHTML};
};
