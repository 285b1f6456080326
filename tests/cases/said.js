views => views.map(([matrix, omega, alpha]) => {
    explorer.move({matrix, omega, alpha});
    const texts = selector => [...document.querySelectorAll(selector)].map(part => part.textContent);
    const rows = [...document.querySelectorAll(".explorer-numbers tbody tr")];
    return {at: explorerTheory.at(explorerTheory.tasks[matrix], omega, alpha), verdict: texts(".explorer-verdict > *"),
        winner: explorer.root.dataset.winner, rows: rows.map(row => [...row.children].map(cell => cell.textContent)),
        below: texts(".explorer-numbers p span")[0],
        disabled: [...document.querySelectorAll(".explorer-presets button")].map(button => button.disabled)};
})
