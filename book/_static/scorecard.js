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
  for (const section of sections) choice.append(new Option(section.dataset.title, section.dataset.figure));
  const show = () => {
    let rows = 0;
    for (const section of sections) {
      section.hidden = choice.value !== "" && section.dataset.figure !== choice.value;
      if (!section.hidden) rows += section.querySelectorAll("tbody tr").length;
    }
    said.textContent = ` ${rows} comparisons`;
  };
  choice.addEventListener("change", show);
  place.append(label, said);
  show();
})();
