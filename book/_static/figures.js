/* A figure opens, for both themes, in a dialog that fills the window: whole on a wide screen, larger than a narrow one,
   where a button shows it whole. By click, or by the button below it; Escape closes it, and so does going back. */
document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "Enlarged figure");
  dialog.innerHTML = `<p><button type="button">Whole figure</button> <button type="button">Close</button></p>
    <div tabindex="0" role="region" aria-label="Enlarged figure. Arrow keys scroll it."></div>`;
  const [whole, close] = dialog.querySelectorAll("button"), place = dialog.querySelector("div");
  whole.addEventListener("click", () => {
    whole.textContent = dialog.classList.toggle("whole") ? "Larger" : "Whole figure";
  });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => { if (history.state === dialog.className) history.back(); });
  addEventListener("popstate", () => dialog.close());
  document.body.append(dialog);

  for (const figure of document.querySelectorAll(".bd-article figure")) {
    const picture = figure.querySelector(".themes, img");
    if (!picture || figure.closest(".attention-panel, .explorer")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "enlarge";
    button.textContent = "Enlarge";
    picture.classList.add("opens");
    for (const element of [button, picture]) element.addEventListener("click", () => {
      place.replaceChildren(picture.cloneNode(true));
      history.pushState(dialog.className, "");
      dialog.showModal();
      close.focus();
    });
    const row = figure.nextElementSibling;
    if (row?.matches(".actions")) row.prepend(button);
    else (figure.querySelector("figcaption") ?? figure).append(button);
  }
});
