"""The book beside the science.

`experiments` names the cells of every experiment and computes them; `store` keeps their results. `analysis` reads off
them what several pages need, `pages` what one page shows, and draws it; `render` gives numbers and pictures their form.
`notebooks` executes the texts, `commands` does the work of the command line, `explorer` makes what the landing page
needs, `metadata` what describes the data to others.
"""
