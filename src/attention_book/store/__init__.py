"""The cells of an experiment computed anywhere: each result is stored as it comes, then kept as Parquet."""
