/* The scorecard's tables by figure: a list to choose from, which shows one section or all. */
(() => {
  const place = document.querySelector(".scorecard-filter");
  const sections = [...document.querySelectorAll("section.comparisons")];
  if (!place || !sections.length) return;
  const label = document.createElement("label");
  const choice = document.createElement("select");
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  label.append("Show ", choice);
  choice.append(new Option("all figures", ""));
  for (const each of sections) choice.append(new Option(each.dataset.title, each.dataset.figure));
  const show = () => {
    let rows = 0;
    for (const each of sections) {
      each.hidden = choice.value !== "" && each.dataset.figure !== choice.value;
      if (!each.hidden) rows += each.querySelectorAll("tbody tr").length;
    }
    said.textContent = ` ${rows} comparisons`;
  };
  choice.addEventListener("change", show);
  place.append(label, said);
  show();
})();
