naming => {
    document.querySelectorAll('details').forEach(node => { node.open = true; });
    document.querySelectorAll('mjx-container svg, mjx-assistive-mml').forEach(node => node.replaceChildren());
    const style = document.createElement('style');
    style.textContent = '* {transition: none !important; background-image: none !important}';
    document.head.append(style);
    const speaks = node => [...node.childNodes].some(part => part.nodeType == Node.TEXT_NODE && part.data.trim());
    const ground = node => {
        const colour = getComputedStyle(node).backgroundColor;
        return colour == 'rgba(0, 0, 0, 0)' && node.parentElement ? ground(node.parentElement) : colour;
    };
    const texts = [...document.querySelectorAll('.bd-article *')].filter(speaks);
    const looks = new Map(texts.map(node => [node, []]));
    for (const theme of ['light', 'dark']) {
        document.documentElement.dataset.theme = theme;
        looks.forEach((look, node) => {
            const {color, fontSize, fontWeight, opacity, textDecorationLine} = getComputedStyle(node);
            const large = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24);
            look.push(color, opacity, large, ground(node));
            if (node.matches('a')) look.push(textDecorationLine, getComputedStyle(node.parentElement).color);
        });
    }
    const seen = new Set();
    looks.forEach((look, node) => {
        const whole = [node.tagName, node.className, ...look].join();
        if (node.closest(naming) || !seen.has(whole)) return seen.add(whole);
        if (node.matches('pre span')) return node.replaceWith(node.textContent);
        node.style.visibility = 'hidden';
        [...node.children].forEach(child => { child.style.visibility = 'visible'; });
    });
    return [...looks.values()].map(look => look.join());
}
