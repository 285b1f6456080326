/* What scrolls is reached with the Tab key, and only that; what the theme leaves without a name gets one. A formula and
   the punctuation after it stay on one line; values of a table that folds have their names; the list of pages shows the
   one that is open. The contents of a page close on a phone once a section is chosen. Paper has no folds: what is folded opens for a print, but for code and what is behind figures. All
   as soon as the page is read, and its colours before that, so that nothing changes that is seen already. */
if (document.documentElement.dataset.theme === "auto")  // until the theme's script has come: of neither theme
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.addEventListener("readystatechange", () => {
  const scrolls = ".bd-article :is(table, pre, .scrolled, mjx-container[display='true'])";

  function reach() {
    for (const element of document.querySelectorAll(scrolls)) {
      const wider = element.scrollWidth > element.clientWidth;
      const higher = element.matches("pre") && element.scrollHeight > element.clientHeight;
      if (wider || higher) element.tabIndex = 0;
      else if (!element.matches("div.scrolled")) element.removeAttribute("tabindex");
    }
  }

  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const of = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages below ${of ? of.textContent.trim() : "this one"}`);
  }
  for (const button of document.querySelectorAll(".theme-switch-button")) {
    const tell = () => { button.ariaLabel = `Theme: ${document.documentElement.dataset.mode || "auto"}`; };
    new MutationObserver(tell).observe(document.documentElement, {attributes: true, attributeFilter: ["data-mode"]});
    tell();
  }
  for (const list of document.querySelectorAll(".citation-list[role=list]"))
    for (const item of list.children) item.setAttribute("role", "listitem");
  for (const math of document.querySelectorAll(".bd-article span.math")) {
    const text = (math.closest("a") ?? math).nextSibling;
    const length = text?.nodeType === Node.TEXT_NODE && text.data.search(/[\s\w\u2013\u2014(]|$/);
    if (!length) continue;
    const whole = document.createElement("span");
    whole.style.whiteSpace = "nowrap";
    text.splitText(length);
    text.previousSibling.before(whole);
    whole.append(whole.nextSibling, text);
  }
  for (const row of document.querySelectorAll("table.several-lines tbody tr"))  // for a phone
    [...row.cells].forEach((cell, i) => {
      const name = document.createElement("span"), heads = row.closest("table").tHead.rows[0].cells;
      [name.className, name.innerHTML] = ["of", heads[i].textContent.trim() && heads[i].innerHTML];
      if (i || !row.closest(".titled")) cell.prepend(name);
    });
  for (const word of document.querySelectorAll(".bd-article code .pre"))  // not broken at its hyphens
    if (word.textContent.length < 30 && !word.closest("table, dt, .behind")) word.style.whiteSpace = "nowrap";
  const bar = document.querySelector(".bd-sidebar-primary"), here = bar?.querySelector(".current.active");
  if (here) bar.scrollTop = here.offsetTop - bar.clientHeight / 2;
  // The theme marks, of the contents, the heading that came last into the upper part of the window: never those that
  // stay below it where a page ends, nor the one before on the way up.
  const contents = [...document.querySelectorAll("nav.page-toc a[href^='#']")];
  const headings = contents.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  let settling;
  function mark() {
    const ended = innerHeight + scrollY > document.documentElement.scrollHeight - 4, low = innerHeight * (ended ? 1 : 0.3);
    const here = contents[headings.findLastIndex(heading => heading?.getBoundingClientRect().top < low)];
    for (const link of contents) {
      link.classList.toggle("active", link === here);
      if (link === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
  addEventListener("scroll", () => {
    clearTimeout(settling);
    settling = setTimeout(mark, 100);
  }, {passive: true});
  const folded = ".bd-article details:not([open], .hide, .behind)";
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(folded)];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of opened) details.open = false; });
  document.querySelector("#pst-secondary-sidebar-modal")?.addEventListener("click", ({target, currentTarget}) =>
    target.closest("a") && currentTarget.close());
  const article = document.querySelector(".bd-article");
  if (article) new ResizeObserver(reach).observe(article);  // the theme moves its columns some time after the window
  document.addEventListener("toggle", reach, true);
  addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reach));
}, {once: true});
