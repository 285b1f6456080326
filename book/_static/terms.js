/* The meaning of a word of the glossary opens at a link to it, on hover and on focus; Escape closes it. */
(() => {
  const links = document.querySelectorAll("a.term"), box = document.createElement("div");
  if (!links.length) return;
  box.className = "term-meaning";
  box.id = "term-meaning";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  document.body.append(box);
  let shown = null, waiting = 0;

  function show(link) {
    clearTimeout(waiting);
    const meaning = TERMS[decodeURIComponent(link.hash.slice(1))];
    if (!meaning || shown === link) return;
    close();
    shown = link;
    box.innerHTML = meaning;
    box.querySelectorAll("a").forEach(inner => inner.replaceWith(...inner.childNodes));  // they lead from the glossary
    box.hidden = false;
    link.setAttribute("aria-describedby", box.id);
    place();
    window.MathJax?.typesetPromise?.([box]).then(place);
  }

  function place() {
    if (!shown) return;
    const at = shown.getBoundingClientRect(), width = box.offsetWidth, height = box.offsetHeight;
    const below = at.bottom + height < innerHeight || at.top < height;
    box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
    box.style.top = `${below ? at.bottom : at.top - height}px`;
  }

  function close() {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  }

  const leave = () => { waiting = setTimeout(close, 200); };
  for (const link of links) {
    if (link.querySelector(".math")) link.setAttribute("aria-label", decodeURIComponent(link.hash.slice("#term-".length)));
    link.addEventListener("mouseenter", () => show(link));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("mouseleave", leave);
    link.addEventListener("blur", leave);
  }
  box.addEventListener("mouseenter", () => clearTimeout(waiting));
  box.addEventListener("mouseleave", leave);
  addEventListener("keydown", event => { if (event.key === "Escape") close(); });
  addEventListener("scroll", place, {passive: true});
})();
