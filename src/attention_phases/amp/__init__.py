"""Approximate message passing on sampled sentences (Algorithm 1), and predictions of state evolution for it."""
