"""What several pages read off results: means, thresholds, limits at infinite d, differences from published tables."""
