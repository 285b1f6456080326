/* A reader who comes by a way through the book finds its next page at the foot, in the place of the one of the contents. */
"use strict";
(() => {
  const way = new URLSearchParams(location.search).get("way"), next = document.querySelector("a.right-next");
  const step = [...document.querySelectorAll(".route [data-way]")].find(({dataset}) => dataset.way === way);
  if (!step || !next) return;
  next.href = step.dataset.next;
  next.querySelector(".prev-next-subtitle").textContent = "next on this way";
  next.querySelector(".prev-next-title").textContent = step.dataset.title;
})();
