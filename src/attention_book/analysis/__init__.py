"""What is read off results: means, crossings, which minimum a run has found."""
