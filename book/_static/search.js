/* The results of a search: pages by what they say, from search-texts.js, with the words around; after them functions of
   the programming interface, which Sphinx finds. Letters count as their names, αc, α_c and alpha_c are one word, and
   without accents. */
"use strict";
(() => {
  const GREEK = {alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", theta: "θ", lambda: "λ", sigma: "σ",
                 omega: "ω", zeta: "ζ", xi: "ξ", rho: "ρ"};
  const AROUND = 240, MOST = 30;  // letters of an excerpt; parts of the code
  // What a word counts there, and in a word of the glossary; what its words beside one another do.
  const TITLE = 12, HEADING = 5, DEFINED = 18, TOGETHER = 20;

  const ALSO = [  // what people type, and what the book calls it
    [/phase transition/i, "more data and a jump", "phase diagram"], [/limitation/i, "limits"],
    [/linear regression/i, "linear model"], [/data ?set size|training set size/i, "sample complexity"],
    [/overfit|generali[sz]/i, "test error"], [/initiali[sz]/i, "random weights", "descent stays"],
    [/local minim/i, "minima"], [/induction head/i, "transformer"],
    [/training.* (fail|stuck|miss|stop)|fail.* training/i, "random starts", "descent stays"],
  ];
  const ASKED = new Set("a an and are at by can do does for how i in is it of on or that the this to what when where which why".split(" "));
  const START = [["book/index.html", "First page"], ["book/glossary.html", "Glossary"], ["book/index.html#all-figures", "All figures"]];

  const normal = text => text.toLowerCase().replace(/attention[-_]phases/g, "attentionphases")  // which is one name
    .normalize("NFD").replace(/\p{Mark}/gu, "").replace(/[a-z]+/g, name => GREEK[name] ?? name).replace(/[_{}]/g, "");
  const wordsOf = text => normal(text).match(/[\p{Letter}\p{Number}]+/gu) ?? [];
  const stem = word => word.length > 4 ? word.replace(/(es|s|ing|ed)$/, "") : word;
  const holds = (words, term) => words.filter(word => term.length > 2 ? word.startsWith(term) : word === term).length;

  /** Each section of a page as {page, anchor, heading, text, and the words of these}; the first one is the page, whose
      file's name counts too: fig04_histogram. */
  const pages = Object.entries(SEARCH_TEXTS).map(([page, sections]) => sections.map(([anchor, heading, text], i) => {
    const name = i ? "" : page.split("/").pop().replaceAll("_", " ");
    const counts = !i ? TITLE : anchor.startsWith("term-") ? DEFINED : HEADING;
    return {page, anchor, heading, text, counts, of: wordsOf(`${heading} ${name}`), words: wordsOf(text)};
  }));

  /** Pages that have all words, best first: {section, score}, by the section that says most of them. */
  function found(query) {
    const typed = [...new Set(wordsOf(query))], said = typed.filter(word => !ASKED.has(word));
    const terms = [...new Set((said.length ? said : typed).map(stem))], whole = terms.join(" ");
    const counts = terms.map(term =>
      pages.filter(page => page.some(({of, words}) => holds(of, term) || holds(words, term))));
    const rare = counts.map(some => Math.log(1 + pages.length / (some.length || 1)));
    const rated = pages.filter(page => terms.length && counts.every(some => some.includes(page))).map(page => {
      const scores = page.map(({of, words, counts, anchor}) => {
        const each = terms.map((term, k) => rare[k] * (Math.min(holds(of, term), 1) * counts
          + holds(words, term) / (holds(words, term) + 2)));
        const together = terms.length > 1 && ` ${[...of, "", ...words].map(stem).join(" ")} `.includes(` ${whole}`);
        const score = each.reduce((sum, some) => sum + some, 0) + TOGETHER * together;
        return anchor === "all-figures" ? score / 2 : score;  // which only leads on
      });
      const most = Math.max(...scores), rest = scores.reduce((sum, some) => sum + some, 0) - most;
      return {section: page[scores.indexOf(most)], title: page[0].heading, score: most + rest / 4};
    });
    return {terms, pages: rated.sort((a, b) => b.score - a.score)};
  }

  /** The same of a query and of what the book calls it: each page where it is best, with the words found there. */
  function foundAlso(query) {
    const best = new Map(), [, ...others] = ALSO.find(([typed]) => typed.test(query)) ?? [];
    for (const {terms, pages} of [query, ...others].map(found))
      for (const page of pages)
        if (!(best.get(page.section.page)?.score >= page.score)) best.set(page.section.page, {...page, terms});
    return [...best.values()].sort((a, b) => b.score - a.score);
  }

  /** By how many letters two words differ: put in, left out, in the place of another, or exchanged with the next one. */
  function apart(a, b) {
    const rows = [...Array(a.length + 1)].map((_, i) => [i, ...Array(b.length).fill(0)]);
    for (let j = 1; j <= b.length; j++) rows[0][j] = j;
    for (let i = 1; i <= a.length; i++)
      for (let j = 1; j <= b.length; j++) {
        const other = Number(a[i - 1] !== b[j - 1]), swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
        rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + other, swapped ? rows[i - 2][j - 2] + 1 : 9);
      }
    return rows[a.length][b.length];
  }

  /** The query with the nearest word of the book, the most frequent of several, for each word that no page has; null if
      there is none near. */
  function corrected(query) {
    const counts = new Map();
    for (const word of pages.flat().flatMap(({of, words}) => [...of, ...words])) counts.set(word, (counts.get(word) ?? 0) + 1);
    const nearest = word => [...counts].map(([known, count]) => [apart(word, known), -count, known])
      .filter(([away]) => away <= (word.length > 4 ? 2 : word.length > 3)).sort((a, b) => a[0] - b[0] || a[1] - b[1])[0]?.[2];
    const missing = word => !pages.some(page => page.some(({of, words}) => holds(of, stem(word)) || holds(words, stem(word))));
    const better = wordsOf(query).map(word => missing(word) ? nearest(word) : word);
    return better.every(Boolean) && better.join(" ") !== wordsOf(query).join(" ") ? better.join(" ") : null;
  }

  /** Whole words of a text around the first place that has a term, or more of them than others. */
  function excerpt(text, terms) {
    const places = [...text.matchAll(/\S+/g)].map(({0: word, index}) =>
      ({index, of: terms.filter(term => holds(wordsOf(word), term))})).filter(({of}) => of.length);
    const near = at => new Set(places.flatMap(({index, of}) => index >= at && index < at + AROUND / 2 ? of : [])).size;
    const at = places.reduce((best, {index}) => near(index) > near(best) ? index : best, places[0]?.index ?? 0);
    const from = at < AROUND / 2 ? 0 : text.lastIndexOf(" ", at - AROUND / 3) + 1;
    const end = text.length - from < AROUND * 1.2 ? text.length : text.lastIndexOf(" ", from + AROUND);
    return `${from ? "… " : ""}${text.slice(from, end)}${end < text.length ? " …" : ""}`;
  }

  /** A result: a link, and what is around the words. */
  function show(address, title, text) {
    const item = document.createElement("li"), link = item.appendChild(document.createElement("a"));
    [link.href, link.textContent] = [`${document.documentElement.dataset.content_root}${address}`, title];
    const around = item.appendChild(document.createElement("p"));
    [around.className, around.textContent] = ["context", text];
    Search.output.append(item);
  }

  /** Show what is found: in the place of what Sphinx does, whose script comes later. */
  function answer(query) {
    const [, stems, left, , names] = Search._parseQuery(query), best = foundAlso(query);
    const modules = Search.performTermsSearch(stems, left).filter(([page]) => page.startsWith("book/api/"));
    const functions = [...names].flatMap(name => Search.performObjectSearch(name, names)).concat(modules)
      .sort((a, b) => b[4] - a[4]);
    for (const {section: {page, anchor, heading, text}, title, terms} of best)
      show(`${page}.html${anchor && `#${anchor}`}`, heading === title ? title : `${title} › ${heading}`,
           excerpt(text, terms));
    for (const [page, name, anchor, about] of functions.slice(0, MOST))
      show(`${page}.html${anchor}`, name, about ?? `Programming interface, with “${query}”`);
    const other = best.length ? null : corrected(query);
    if (other) show(`search.html?q=${encodeURIComponent(other)}`, `Did you mean “${other}”?`, "");
    if (!best.length && !functions.length) for (const [address, title] of START) show(address, title, "");
    Search.stopPulse();
    Search.title.textContent = "Search results";
    const several = ({length}, word) => `${length} ${word}${length === 1 ? "" : "s"}`;
    Search.status.textContent = `${several(best, "page")} and ${several(functions, "part")} of the code found for “${query}”.`;
  }

  document.addEventListener("DOMContentLoaded", () => { Search.query = answer; });
})();
