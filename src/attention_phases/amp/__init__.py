"""Approximate message passing on sampled sentences (Algorithm 1), and what the state evolution says of it."""
