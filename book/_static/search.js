/* Below each result the words around what was searched: the texts come from a script, since pages on a disk cannot be
   fetched. */
document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const words = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (!results || !words.length) return;
  const found = (text, from = 0) => {
    const places = words.map(word => text.toLowerCase().indexOf(word, from)).filter(place => place >= 0);
    return places.length ? Math.min(...places) : -1;
  };

  function snippet(text) {
    const place = Math.max(0, found(text)), begin = place < 60 ? 0 : text.indexOf(" ", place - 60) + 1;
    let end = text.indexOf(" ", begin + 220);
    if (end < 0) end = text.length;
    const made = document.createElement("p"), part = text.slice(begin, end);
    made.className = "context";
    made.append(begin ? "… " : "");
    let last = 0;
    for (const {index, 0: word} of part.matchAll(/[\p{L}\p{N}]+/gu)) {
      if (!words.some(each => word.toLowerCase().startsWith(each))) continue;
      const mark = document.createElement("mark");
      mark.textContent = word;
      made.append(part.slice(last, index), mark);
      last = index + word.length;
    }
    made.append(part.slice(last), end < text.length ? " …" : "");
    return made;
  }

  new MutationObserver(changes => {
    for (const item of changes.flatMap(change => [...change.addedNodes])) {
      const link = item.nodeName === "LI" && item.querySelector("a");
      const page = link && link.getAttribute("href").replace(/\.html.*/, "");
      if (page && SEARCH_TEXTS[page] && !item.querySelector(".context")) item.append(snippet(SEARCH_TEXTS[page]));
    }
  }).observe(results, {childList: true, subtree: true});
});
