() => [...document.body.querySelectorAll(":not(script, style, #results *)")].flatMap(part => {
    const own = [...part.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const said = [...part.attributes].filter(({name}) => /^(aria-(?!hidden)|title$|alt$|placeholder$)/.test(name));
    if (!own.length && !said.length && !part.matches("li :is(path, circle, rect)")) return [];
    const at = part.matches("svg text") && part.transform.baseVal.numberOfItems ? part.getCTM() : null;
    const place = at ? ` at ${(at.e / 100).toFixed(1)} ${(at.f / 100).toFixed(1)}${at.b ? " turned" : ""}` : "";
    const words = [...own.map(node => node.data), ...said.map(({name, value}) => `${name}=${value}`)].join(" | ");
    const name = [part.tagName.toLowerCase(), ...part.classList].join(".");
    return [`${name}${place}: ${words}`.replace(/\s+/g, " ").trim()];
})
