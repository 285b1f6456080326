/* The results of a search, also while the reader types: pages by what they say, from search-texts.js, with the words
   around; after them functions of the programming interface, which Sphinx finds. Letters count as their names, αc, α_c and
   alpha_c are one word, "minimize" is "minimise", and accents do not count. Where no page has all words, the nearest words
   of the book stand in the place of those that it does not have, and some of them are enough. */
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
    [/overfit|generali[sz]/i, "test error"], [/initiali[sz]/i, "random weights", "training stays"],
    [/local minim/i, "minima"], [/induction head/i, "transformer"],
    [/training.* (fail|stuck|miss|stop)|fail.* training/i, "misses the deeper valley", "training stays"],
    [/regulari[sz]|weight decay/i, "ridge penalty"],
  ];
  const ASKED = new Set("a an and are at by can do does for how i in is it of on or that the this to what when where which why".split(" "));
  const START = [["book/index.html", "First page"], ["book/glossary.html", "Glossary"], ["book/index.html#all-figures", "All figures"]];

  const normal = text => text.toLowerCase().replace(/attention[-_]phases/g, "attentionphases")  // which is one name
    .normalize("NFD").replace(/\p{Mark}/gu, "").replace(/[a-z]+/g, name => GREEK[name] ?? name).replace(/[_{}]/g, "")
    .replace(/(?<=[a-z]{3}[iy])z(?=[aei])/g, "s");  // American spelling
  const wordsOf = text => normal(text).match(/[\p{Letter}\p{Number}]+/gu) ?? [];
  const stem = word => word.length > 4 ? word.replace(/(es|s|ing|ed)$/, "") : word;
  const holds = (words, term) => words.filter(word => term.length > 2 ? word.startsWith(term) : word === term).length;

  /** Each section of a page as {page, anchor, heading, text, and the words of these}; the first one is the page, whose
      file's name counts too: fig04_histogram. */
  let read;
  const allPages = () => read ??= Object.entries(SEARCH_TEXTS).map(([page, sections]) => sections.map(([anchor, heading, text], i) => {
    const name = i ? "" : page.split("/").pop().replaceAll("_", " ");
    const counts = !i ? TITLE : anchor.startsWith("term-") ? DEFINED : HEADING;
    return {page, anchor, heading, text, counts, of: wordsOf(`${heading} ${name}`), words: wordsOf(text)};
  }));

  /** Words of a query that ask for something; all, where none does. */
  function asked(query) {
    const typed = [...new Set(wordsOf(query))], said = typed.filter(word => !ASKED.has(word));
    return said.length ? said : typed;
  }

  /** Pages that have "every" word or "some", best first: {section, score}, by the section that says most of them. */
  function found(query, share) {
    const pages = allPages(), terms = [...new Set(asked(query).map(stem))], whole = terms.join(" ");
    const counts = terms.map(term =>
      pages.filter(page => page.some(({of, words}) => holds(of, term) || holds(words, term))));
    const rare = counts.map(some => Math.log(1 + pages.length / (some.length || 1)));
    const rated = pages.filter(page => terms.length && counts[share](some => some.includes(page))).map(page => {
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
  function foundAlso(query, share) {
    const best = new Map(), [, ...others] = ALSO.find(([typed]) => typed.test(query)) ?? [];
    for (const {terms, pages} of [query, ...others].map(words => found(words, share)))
      for (const page of pages)
        if (!(best.get(page.section.page)?.score >= page.score)) best.set(page.section.page, {...page, terms});
    return [...best.values()].sort((a, b) => b.score - a.score);
  }

  /** By how many letters a word differs from the nearest beginning of another word, and from the whole of it: put in, left
      out, or in the place of another. */
  function apart(word, other) {
    let row = [...Array(other.length + 1).keys()];
    for (const [i, letter] of [...word].entries()) {
      const above = row;
      row = [i + 1];
      for (let j = 0; j < other.length; j++)
        row.push(Math.min(above[j + 1] + 1, row[j] + 1, above[j] + (letter !== other[j])));
    }
    return [Math.min(...row), row.at(-1)];
  }

  /** The query with the nearest word of the book, the most frequent of several, in the place of each that no page has, and
      without words that have none near. */
  function corrected(query) {
    if (!/\p{L}/u.test(query)) return "";  // no other number is meant
    const counts = new Map();
    for (const {of, words} of allPages().flat())
      for (const word of [...of, ...words]) counts.set(word, (counts.get(word) ?? 0) + 1);
    const near = word => [...counts].map(([known, count]) => [known, ...apart(word, known), -count])
      .filter(([, away]) => away <= (word.length > 4 ? 2 : word.length > 3))
      .sort(([, ...a], [, ...b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])[0]?.[0];
    return asked(query).map(word => holds([...counts.keys()], stem(word)) ? word : near(word)).filter(Boolean).join(" ");
  }

  /** The first words for which there are pages, and these: those typed; the nearest ones, all or some. */
  function nearest(query) {
    const words = corrected(query);
    for (const [text, share] of [[query, "every"], [words, "every"], [words, "some"]]) {
      const best = foundAlso(text, share);
      if (best.length) return {best, text, share};
    }
    return {best: [], text: query};
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
    const signs = text.replace(/[_^](?=[⋆⊤])/g, "").replace(/\^(\d)(?![\d×])/g, (_, digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
    [around.className, around.textContent] = ["context", signs];
    Search.output.append(item);
  }

  /** Show what is found, in the place of what Sphinx does. */
  function answer(query) {
    const {best, text: asks, share} = nearest(query), [, stems, left, , names] = Search._parseQuery(asks);
    const modules = Search.performTermsSearch(stems, left).filter(([page]) => page.startsWith("book/api/"));
    const functions = [...names].flatMap(name => Search.performObjectSearch(name, names)).concat(modules)
      .sort((a, b) => b[4] - a[4]);
    for (const {section: {page, anchor, heading, text}, title, terms} of best)
      show(`${page}.html${anchor && `#${anchor}`}`, heading === title ? title : `${title} › ${heading}`,
           excerpt(text, terms));
    for (const [page, name, anchor, about] of functions.slice(0, MOST))
      show(`${page}.html${anchor}`, name, about ?? `Programming interface, with “${asks}”`);
    const nothing = !best.length && !functions.length;
    if (nothing) for (const [address, title] of START) show(address, title, "");
    Search.stopPulse();
    Search.title.textContent = "Search results";
    Search.status.role = "status";
    const several = ({length}, word) => `${length} ${word}${length === 1 ? "" : "s"}`;
    const instead = asks === query && share !== "some" ? "" : `Not found: “${query}”. `;
    Search.status.textContent = nothing ? `Nothing found for “${query}”. These pages lead on${/\d/.test(query) ? " (numbers in tables are not searched)" : ""}:`
      : `${instead}${several(best, "page")} and ${several(functions, "part")} of the code found for ${
        share === "some" ? "some words of " : ""}“${asks}”.`;
  }

  Search.query = answer;
  const field = document.querySelector(".bd-search-container [name=q]");  // of the page of search; the theme asks elsewhere
  field?.addEventListener("input", () => {
    document.querySelector("#search-results").replaceChildren();
    if (field.value.trim()) Search.performSearch(field.value);
  });
})();
