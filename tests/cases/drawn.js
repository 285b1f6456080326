svg => ({
    ticks: [...svg.querySelectorAll(".axis")].map(axis => [...axis.querySelectorAll(".tick")].map(tick =>
        [tick.transform.baseVal[0].matrix.e, tick.transform.baseVal[0].matrix.f, tick.textContent])),
    shapes: [...svg.querySelectorAll(":scope > path, :scope > circle")].map(shape => [shape.getAttribute("class"),
        shape.getAttribute(shape.tagName === "path" ? "d" : "cx"), shape.getAttribute("cy")]),
    foot: svg.querySelector(".axis").transform.baseVal[0].matrix.f,
    words: [...svg.querySelectorAll(":scope > text")].map(text =>
        [text.textContent, text.transform.baseVal[0].matrix.e, text.transform.baseVal[0].matrix.f]),
})
