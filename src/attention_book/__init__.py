"""The book beside the science: experiments and their store, pages, rendering, notebooks, commands."""
