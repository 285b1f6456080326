"""Drawing, one function a figure; nothing is computed here."""

NOTEBOOKS = {"fig02": "notebooks/fig02_slice.md"}
