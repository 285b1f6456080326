/* What scrolls is reached with the Tab key, and only that; what the theme leaves without a name gets one. */
(() => {
  const scrolls = ".bd-article :is(table, pre, .scrolled, mjx-container[display='true'])";

  function reach() {
    for (const element of document.querySelectorAll(scrolls)) {
      const open = element.scrollWidth > element.clientWidth || (element.matches("pre") && element.scrollHeight > element.clientHeight);
      if (open) element.tabIndex = 0;
      else if (!element.matches("div.scrolled")) element.removeAttribute("tabindex");
    }
  }

  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const of = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages below ${of ? of.textContent.trim() : "this one"}`);
  }
  for (const list of document.querySelectorAll(".citation-list[role=list]"))
    for (const item of list.children) item.setAttribute("role", "listitem");
  const article = document.querySelector(".bd-article");
  if (article) new ResizeObserver(reach).observe(article);  // the theme moves its columns some time after the window
  document.addEventListener("toggle", reach, true);
  (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reach);
  addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reach));
})();
