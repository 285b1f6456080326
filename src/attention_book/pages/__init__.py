"""The pages of the book: one module for each page, or group of kindred pages, with its numbers and its drawing."""
