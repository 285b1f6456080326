"""Experiments that examine where and why published values differ from ours."""
