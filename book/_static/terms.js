/* What a link leads to opens beside it: a word's meaning, an equation, a figure, an article. It opens on hover and on
   focus, and Escape closes it. A touch opens the meaning of a word, an equation or an article, and a second touch follows
   the link. A touch on a link to a page follows the link at once. */
(() => {
  const key = link => decodeURIComponent(`${link.pathname.split("/").pop().replace(".html", "")}${link.hash}`);
  const links = [...document.querySelectorAll(".bd-article a[href*='#']")].filter(link => key(link) in PREVIEWS);
  const box = document.createElement("div");
  if (!links.length) return;
  box.className = "term-meaning";
  box.id = "term-meaning";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  document.body.append(box);
  let shown = null, waiting = 0, first = false;

  function show(link) {
    clearTimeout(waiting);
    if (shown === link) return;
    close();
    shown = link;
    box.innerHTML = PREVIEWS[key(link)];
    box.querySelectorAll("a").forEach(inner => inner.replaceWith(...inner.childNodes));  // they lead from another page
    for (const image of box.querySelectorAll("img")) {
      image.onload = place;
      image.src = document.documentElement.dataset.content_root + image.dataset.src;
    }
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

  // A finger that is lifted leaves the link, but the meaning stays until the next touch.
  const leave = event => { if (event.pointerType !== "touch") waiting = setTimeout(close, 200); };
  for (const link of links) {
    if (link.matches(".term") && link.querySelector(".math"))
      link.setAttribute("aria-label", decodeURIComponent(link.hash.slice("#term-".length)));
    link.addEventListener("pointerdown", event => { first = event.pointerType === "touch" && shown !== link && !PREVIEWS[key(link)].startsWith("<img"); });
    link.addEventListener("click", event => {
      if (first) event.preventDefault();
      first = false;
      show(link);
    });
    link.addEventListener("pointerenter", event => { if (event.pointerType !== "touch") show(link); });
    link.addEventListener("focus", () => show(link));
    link.addEventListener("pointerleave", leave);
    link.addEventListener("blur", leave);
  }
  box.addEventListener("pointerenter", () => clearTimeout(waiting));
  box.addEventListener("pointerleave", leave);
  addEventListener("pointerdown", event => { if (!event.target.closest("a, .term-meaning")) close(); });
  addEventListener("keydown", event => { if (event.key === "Escape") close(); });
  addEventListener("scroll", place, {passive: true});
})();
