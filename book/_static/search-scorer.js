/* Pages come before functions of the programming interface, which many more names match. */
var Scorer = {
  score: ([page, title, anchor, description, score]) => score - (page.startsWith("book/api") ? 20 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 0, 1: -5, 2: -10},
  objPrioDefault: -10,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
