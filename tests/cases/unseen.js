() => {
    const parts = (panel, kind) => [...panel.querySelectorAll(`:scope > g[id^=${kind}]`)];
    const panels = [...document.querySelectorAll("g[id^=axes_]")].filter(panel => !panel.querySelector(MAPS));
    const keys = panels.flatMap(panel => parts(panel, "legend"));  // those with a frame cover on purpose
    const covers = keys.filter(key => !key.firstElementChild.id.startsWith("patch")).map(key => key.getBBox());
    return panels.flatMap(panel => {
        const frame = parts(panel, "patch")[0].getBBox(), inside = (box, {x, y}, slack) => y > box.y - slack
            && y < box.y + box.height + slack && x > box.x - slack && x < box.x + box.width + slack;
        const among = query => parts(panel, "line2d").flatMap(line => [...line.querySelectorAll(query)]);
        const along = path => [...Array(301).keys()].map(k => path.getPointAtLength(k / 300 * path.getTotalLength()));
        const marks = among("use[x]").map(({x, y}) => ({x: x.baseVal.value, y: y.baseVal.value}));
        const points = [...marks, ...among("path[clip-path][d]").flatMap(along)];
        const seen = points.filter(({x}) => x > frame.x && x < frame.x + frame.width);
        return [...seen.filter(point => !inside(frame, point, 1)).map(() => "outside"),
            ...seen.filter(point => covers.some(box => inside(box, point, 0))).map(() => "covered")];
    });
}
