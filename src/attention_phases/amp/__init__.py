"""Approximate message passing on sampled sentences (Algorithm 1), and what state evolution predicts for it."""
