"""The page that introduces the folder of stored results."""

TEXT = """# Stored results

{about}

```python
import pandas as pd

table = pd.read_parquet("data/fig02.parquet")  # with pyarrow; in R, arrow::read_parquet
table.groupby(["optimizer", "start", "alpha"], observed=True)["test_mse"].agg(["mean", "sem"])
```

- `datapackage.json`, a [Data Package](https://datapackage.org), says of every column what it means, in which unit,
  and what the names in it stand for; and of every file its rows, size and SHA-256.
- All quantities are pure numbers, except times, which are in seconds. `x_error` is the standard error of `x`.
- Rows with the same `cell` share a data set: compare starts within a cell, not across.
- The last columns say how a row was computed: versions, commit, processor, seconds.
- `make verify` computes a random sample again. `attention-phases sweep NAME` adds what a file lacks.

The tables are under the licence [CC-BY-4.0](LICENSE), the code is under MIT.
This page and `datapackage.json` are written by `make metadata`.

| file | rows | kB | what it holds |
|---|--:|--:|---|
{rows}
"""


def readme(package):
    """The page's text.

    Parameters
    ----------
    package : dict
        From `datapackage.datapackage`.

    Returns
    -------
    str
    """
    rows = (
        f"| `{each['path']}` | {each['rows']:,} | {each['bytes'] / 1000:,.0f} | {each['description'].rstrip('.')} |"
        for each in package["resources"]
    )
    return TEXT.format(about=package["description"], rows="\n".join(rows))
