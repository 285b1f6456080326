"""The search, compared with the complete text of the pages."""

import re

import numpy as np
import pytest
from cases import cases

START = ["book/index.html", "book/glossary.html", "book/index.html#all-figures"]
FOUND = "items => items.map(item => [item.firstChild.getAttribute('href'), item.lastChild.innerText])"


def words_of(text):
    """Return the words of a text as the search compares them: Greek letters by name, and α_c as one word."""
    text = re.sub("attention[-_]phases", "attentionphases", text.lower())
    text = re.sub("(?<=[a-z]{3}[iy])z(?=[aei])", "s", text)  # the search ignores American spelling
    names = {"alpha": "α", "theta": "θ", "omega": "ω"}
    return re.findall(r"[^\W_]+", re.sub("[_{}]", "", re.sub("[a-z]+", lambda word: names.get(word[0], word[0]), text)))


def stem(word):
    return re.sub("(es|s|ing|ed)$", "", word) if len(word) > 4 else word


@pytest.mark.parametrize(("query", "known", "share"), cases("queries"))
def test_a_search_finds_the_pages_that_say_most_of_it_or_of_the_nearest_words(page, query, known, share):
    """`known` are the words that are found; `share` tells whether a page must have "every" word."""
    typed = [word for word in words_of(query) if word not in ("of", "the")]  # words without content
    pages, terms = page.evaluate("SEARCH_TEXTS"), [*dict.fromkeys(map(stem, words_of(known)))]

    def count(words, term):
        return sum(word.startswith(term) if len(term) > 2 else word == term for word in words)

    sections = {}
    for name, parts in pages.items():
        file = name.split("/")[-1].replace("_", " ")
        heads = [words_of(f"{heading} {file}" if k == 0 else heading) for k, (_, heading, _) in enumerate(parts)]
        sections[name] = [(head, words_of(text)) for head, (_, _, text) in zip(heads, parts)]
    having = []
    for term in terms:
        having.append({name for name in pages if any(count(head + words, term) for head, words in sections[name])})
    rare = [np.log(1 + len(pages) / max(len(some), 1)) for some in having]
    ranked = []
    for name in (name for name in pages if {"every": all, "some": any}[share](name in some for some in having)):
        scores = []
        for k, ((head, words), (anchor, *_)) in enumerate(zip(sections[name], pages[name])):
            weight = 12 if k == 0 else 18 if anchor.startswith("term-") else 5
            here = [(bool(count(head, term)), count(words, term)) for term in terms]
            score = sum(r * (weight * named + n / (n + 2)) for r, (named, n) in zip(rare, here))
            said = [" ".join(map(stem, part)) for part in (head, words)]
            score += 20 * (len(terms) > 1 and any(f" {' '.join(terms)}" in f" {part}" for part in said))
            scores.append(score / 2 if anchor == "all-figures" else score)
        k = int(np.argmax(scores))
        address = f"{name}.html" + f"#{pages[name][k][0]}" * (k > 0)
        ranked.append((max(scores) * 3 / 4 + sum(scores) / 4, address, k, name))
    ranked.sort(key=lambda page: -round(page[0], 9))
    page.evaluate("query => { Search.output.replaceChildren(); Search.query(query); }", query)
    found = page.locator("#results li").evaluate_all(FOUND)
    assert [address for address, _ in found] == ([address for _, address, *_ in ranked] or START)
    status, several = page.evaluate("Search.status.textContent"), "s" * (len(ranked) > 1)
    said = f"{len(ranked)} page{several} and 0 parts of the code found for "
    if terms == [*dict.fromkeys(map(stem, typed))] and share == "every":
        tables = " (numbers in tables are not searched)" * any(map(str.isdigit, query))
        assert status.startswith(said if ranked else f"Nothing found for “{query}”. These pages lead on{tables}:")
    else:
        assert status == f"Not found: “{query}”. {said}{'some words of ' * (share == 'some')}“{known}”."
    for (_, excerpt), (_, _, k, name) in zip(found, ranked):
        text = pages[name][k][2]
        assert excerpt.strip("… ") in text and len(excerpt) < 300

        def near(part):
            return len({term for term in terms if count(words_of(part), term)})

        windows = [text[at : at + 100].rpartition(" ")[0] for at in range(len(text)) if text[at - 1 : at] in ("", " ")]
        assert near(excerpt) >= max(map(near, windows)), excerpt
