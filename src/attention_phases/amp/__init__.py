"""Approximate message passing on sampled sentences (Algorithm 1), and its behaviour as predicted by state evolution."""
