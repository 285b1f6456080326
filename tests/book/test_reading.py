"""Features of the book for readers: information behind figures, downloads, enlargement, search, and previews."""

import json
import re
from hashlib import sha256
from html import unescape
from io import StringIO
from pathlib import Path
from urllib.parse import quote, unquote, urlparse

import nbformat
import pandas as pd
import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from built import EXECUTED, HERE, HTML, PAGES, PHONE, opening
from cases import cases

pytestmark = pytest.mark.slow
NAMES = sorted(path.stem for path in (HTML / "figures").glob("*.json"))


def test_every_figure_of_a_notebook_has_its_line_and_its_files():
    lines = {}
    for page in EXECUTED.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        figures = re.findall(r'<figure class="[^"]*" id="([^"]+)"', text)
        lines |= {name: page.stem for name in figures}
        assert text.count('<details class="behind">') == len(figures)
        for name in figures:
            assert f'href="../../figures/{name}.json" download' in text
            read = f'<code>pandas.read_csv("{name}.csv", '
            assert (read in text) == (HTML / "figures" / f"{name}.csv").exists()
    assert sorted([*lines, "fig-why"]) == NAMES and len(NAMES) > 30  # the landing page shows that figure as a picture


@pytest.mark.parametrize("name", NAMES)
def test_the_files_of_a_figure_are_what_its_metadata_say(name):
    about = json.loads((HTML / "figures" / f"{name}.json").read_text(encoding="utf-8"))
    for file, digest in about["files"].items():
        assert sha256((HTML / "figures" / file).read_bytes()).hexdigest() == digest
    if f"{name}.csv" in about["files"]:
        text = (HTML / "figures" / f"{name}.csv").read_text(encoding="utf-8")
        assert text.startswith("# Units:") and list(pd.read_csv(StringIO(text), comment="#")) == list(about["columns"])
    assert (HTML / "figures" / f"{name}.svg").stat().st_size < 3e6
    known = about["drawn with"]["commit"] is not None  # the commit is unknown outside a checkout
    assert all("computing seconds" in data and (data["commit"] or not known) for data in about["data"])


def test_routes_lead_from_the_landing_page_to_their_last_step(open_page):
    landing = HTML / "book" / "index.html"
    page = open_page(landing)
    images = page.locator(".gallery a img").all()
    pictures = [(image.get_attribute("src"), image.get_attribute("class")) for image in images]
    assert len(pictures) > 40
    for picture, theme in pictures:
        file, _, part = picture.partition("#")
        assert (landing.parent / file).is_file() and file.endswith("-dark.svg") == (theme == "only-dark")
        assert bool(part) == bool(re.search("fig-?0[456]|dark.svg#", picture))  # the parts of these figures are alike
    routes = page.locator(".routes section").all()
    assert len(routes) > 1
    for route in routes:
        name, links = route.locator("h3").inner_text(), route.locator("a").all()
        path, address = landing, links[0].get_attribute("href")
        for number, link in enumerate(links, 1):
            assert address.endswith(f"?way={quote(name)}")
            path = (path.parent / address.partition("?")[0]).resolve()
            assert link.inner_text() == title_of(path)
            (line,) = re.findall('<p class="route">(.*?)</p>', path.read_text(encoding="utf-8"))
            assert re.findall('href="(.*?)"', line)[0].endswith("index.html#routes") and line.count("href") == 1
            last = f"<span>{name}: {number} of {len(links)}</span>"
            later = re.search(f'data-way="{name}" data-next="(.*?)" data-title=".*?">{last[6:]}', line)
            assert later if number < len(links) else last in line
            address = later and later[1]


def title_of(path):
    (title,) = re.findall("<h1>(.*?)<a", path.read_text(encoding="utf-8"))
    return unescape(re.sub("<.*?>", "", title))


def test_a_page_has_one_next_that_of_the_way_by_which_the_reader_has_come(open_page):
    page = open_page(HTML / "book" / "index.html")
    page.locator(".routes a").first.click()
    for stem, number, following in (("fig02_slice", 1, "fig15_random"), ("fig15_random", 2, "optimal")):
        page.wait_for_url(f"**/{stem}.html?way=A%20first%20look")
        assert f"A first look: {number} of 4" in page.locator("p.route").inner_text()
        (foot,) = page.locator("a.right-next").all()
        assert foot.inner_text().split("\n")[0].lower() == "next on this way"
        assert title_of(EXECUTED / f"{following}.html") in foot.inner_text()
        foot.click()
    page.wait_for_url("**/optimal.html?way=A%20first%20look")
    page.goto((EXECUTED / "fig02_slice.html").as_uri())
    assert page.locator("a.right-next").get_attribute("href") == "fig03_phase_diagram.html"


@pytest.mark.parametrize("name", ["index", "record", "model"])
def test_no_name_stands_twice_in_the_list_of_pages(name):
    text = (HTML / "book" / f"{name}.html").read_text(encoding="utf-8")
    (shown,) = re.findall('<nav class="bd-links.*?</nav>', text, re.S)
    names = [
        re.sub("<.*?>", "", entry)
        for entry in re.findall('<(?:a|span) class="[^"]*(?:reference|caption).*?</', shown, re.S)
    ]
    assert len(names) > 30 and sorted({*names}) == sorted(names)


def test_results_stand_below_the_words_while_they_are_typed(open_page):
    page = open_page(EXECUTED / "fig02_slice.html")
    page.set_viewport_size(PHONE)
    page.keyboard.press("Control+k")
    page.keyboard.type("postional")
    found = page.locator("#pst-search-dialog .search a")
    found.first.wait_for()
    assert "positional" in found.first.inner_text() and found.first.bounding_box()["width"] < PHONE["width"]
    options = {"runOnly": ["wcag2a", "wcag2aa"], "preload": False}  # with preload, axe would use the network
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        assert Axe().run(page, "#pst-search-dialog", options).response["violations"] == []
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#term-positional")

    page = open_page(HTML / "search.html")
    page.locator(".bd-search-container input").press_sequentially("semantik", delay=0)
    page.locator("#search-results a", has_text="Glossary › semantic").wait_for()
    assert page.locator("#search-results h2").count() == 1


WIDTH = """least => [...document.querySelectorAll("dialog.enlarged img")].some(image =>
    image.checkVisibility() && image.naturalWidth > 0 && image.getBoundingClientRect().width > least)"""


def test_the_line_below_a_figure_opens_to_its_data_and_commands_and_the_figure_is_enlarged(open_page):
    page = open_page(EXECUTED / "fig02_slice.html")
    line = page.locator("details.behind").first
    assert not line.locator("dl").is_visible()
    line.locator("summary").focus()
    page.keyboard.press("Enter")
    assert line.locator("dl").is_visible()
    assert "fig02.parquet" in line.locator("dl").inner_text()
    assert "attention-phases figure fig02" in line.locator(".highlight-bash").inner_text()
    code = line.get_by_role("link", name="this page as a notebook").get_attribute("href")
    assert "cells" in json.loads((EXECUTED / code).resolve().read_text(encoding="utf-8"))

    # A click or a key enlarges the figure; the Escape key and the back button close it.
    page.set_viewport_size(PHONE)
    dialog, small = page.locator("dialog.enlarged"), page.locator("figure img").first
    for begin in (
        small.click,
        lambda: (page.get_by_role("button", name="Enlarge").first.focus(), page.keyboard.press("Enter")),
    ):
        begin()
        assert dialog.is_visible()
        page.wait_for_function(WIDTH, arg=1.5 * small.bounding_box()["width"])
        page.keyboard.press("Escape")
        assert not dialog.is_visible()
        page.wait_for_function("() => history.state === null")  # otherwise the back button may close the next one
    small.click()
    page.evaluate("history.back()")
    dialog.wait_for(state="hidden")
    assert page.url.endswith("fig02_slice.html")


def test_the_notebooks_of_pages_say_in_plain_jupyter_what_the_pages_say():
    notebooks = {
        page: HTML / "_sources/book/_executed" / f"{page.stem}.ipynb" for page in PAGES if EXECUTED in page.parents
    }
    # The page of running times has no notebook.
    assert sum(path.exists() for path in notebooks.values()) == len(notebooks) - 1 > 20
    for page, path in notebooks.items():
        if not path.exists():
            continue
        cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"]
        text = "\n\n".join(cells)
        assert re.findall(r"\{[\w:]+\}`|^:::|^```\{|^\(.*\)=$", text, re.MULTILINE) == []
        shown = re.findall(r'<span class="pasted-text">(.*?)</span>', page.read_text(encoding="utf-8"))
        assert [number for number in shown if unescape(number).replace("\xa0", " ") not in text] == []


BLOCKED = """for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name,
    {configurable: true, get() { throw new DOMException("Access is denied for this document.", "SecurityError"); }})"""


def test_where_the_data_of_sites_are_blocked_search_and_theme_work_and_no_page_complains(chromium):
    with opening(chromium) as opened:
        page = opened(HTML / "book" / "model.html")
        page.add_init_script(BLOCKED)
        page.reload()
        for theme in ("dark", "light"):
            page.locator(".theme-switch-button:visible").click()
            assert page.evaluate("document.documentElement.dataset.theme") == theme
        page.goto(f"{(HTML / 'search.html').as_uri()}?q=valley")
        page.locator("#search-results li").nth(5).wait_for()


def test_a_figure_leads_into_the_explorer(open_page):
    page = open_page(EXECUTED / "fig09_alternative.html")
    page.get_by_role("link", name="Explorer").first.click()
    page.wait_for_function("() => document.querySelector('.explorer [name=matrix]:checked')?.value === 'alternative'")
    assert page.locator(".explorer [name=omega]").input_value() == "0.3"


RESULTS = """() => Array.from(document.querySelectorAll("#search-results li"), item => {
    const [link, around] = item.children;
    return [link.href, link.textContent, around.textContent]; })"""


@pytest.fixture(scope="module")
def found(chromium):
    """Return a function that searches and returns the page, title and excerpt of each result."""
    with opening(chromium) as opened:
        page = opened(HTML / "search.html")

        def found(words):
            page.goto(f"{(HTML / 'search.html').as_uri()}?q={quote(words)}")
            page.wait_for_function("() => /found/.test(document.querySelector('.search-summary')?.textContent ?? '')")
            return page.evaluate(RESULTS)

        yield found


@pytest.mark.parametrize(("words", "pages"), cases("meant"))
def test_what_people_call_by_another_name_finds_its_page_among_the_first_three(found, words, pages):
    assert any(f"/{stem}.html" in address for stem in pages.split() for address, *_ in found(words)[:3])


def test_who_asks_why_training_fails_finds_both_pages_about_it_first(found):
    for words in ("why does training fail", "why dose trainig fail"):
        stems = [re.search(r"/([\w.]+)\.html", address)[1] for address, *_ in found(words)[:2]]
        assert stems == ["fig15_random", "staying"]


@pytest.mark.parametrize(("words", "pages"), cases("typed"))
def test_what_people_type_finds_its_page_among_the_first_three_with_the_words_around(found, words, pages):
    results = found(words)
    stems = [re.search(r"/([\w.]+)\.html", address)[1] for address, *_ in results[:3]]
    assert set(pages.split()) & set(stems), results[:5]
    for address, title, excerpt in results[:3]:
        assert Path(unquote(urlparse(address).path)).is_file()
        assert 20 < len(excerpt) < 400 and not re.search(r"\\|\$|  ", excerpt)
        spelt = f"{title} {excerpt} {address}".lower().replace("alpha", "α").replace("_", "")
        assert all(word[:4] in spelt for word in words.lower().replace("alpha_c", "αc").split())


def test_letters_with_their_names_or_accents_find_the_same_and_functions_come_last(found):
    of_code = "/book/api/"
    for names, least in ((("alpha_c", "αc", "α_c"), 10), (("Zdeborová", "Zdeborova", "ZDEBOROVA\u0301"), 1)):
        results = [[address for address, *_ in found(words) if of_code not in address] for words in names]
        assert results[0] == results[1] == results[2] and len(results[0]) >= least
    assert "Hardware" in found("GPU")[0][1] and "Glossary" in found("replica")[0][1] and "code" in found("code")[0][1]
    api = [of_code in address for address, *_ in found("replicon")]
    assert len(api) > 3 and any(api) and api == sorted(api)


def test_excerpts_have_the_formulas_and_the_links_of_their_pages(found):
    texts = [excerpt for _, _, excerpt in found("α_c")[:10]]
    assert any("α_c" in text for text in texts)
    script = (HTML / "_static" / "search-texts.js").read_text(encoding="utf-8")
    pages = json.loads(script.removeprefix("const SEARCH_TEXTS = ").rstrip(";\n"))
    landing = " ".join(text for _, _, text in pages["book/index"])
    theory = " ".join(text for _, _, text in pages["book/theory"])
    assert "1/2V" in theory and "12V" not in theory and "q\u0302" in theory
    caption = json.loads((HTML / "figures/fig-02.json").read_text(encoding="utf-8"))["caption"].partition("$")[0]
    assert caption.strip() and caption.strip() in " ".join(text for _, _, text in pages["book/_executed/fig02_slice"])
    assert "Figure 15" in landing and "Cui et al., NeurIPS 2024" in landing and "σ=0.5" in landing.replace(" ", "")


def test_the_contents_beside_a_page_mark_the_section_that_is_read_up_to_the_last(open_page):
    page = open_page(HTML / "book" / "reproducing.html")
    links = page.locator("nav.page-toc a.nav-link")
    # The theme marks a section at once and our script later, so two sections can be marked for a moment.
    marked = "text => [...document.querySelectorAll('nav.page-toc a.active')].map(a => a.textContent).join() === text"
    for number in (links.count() - 1, 2):
        heading = links.nth(number).get_attribute("href")
        place = "scrollTo(0, 1e6)" if number > 2 else f"document.querySelector('{heading}').scrollIntoView()"
        page.evaluate(place)
        page.wait_for_function(marked, arg=links.nth(number).text_content())


def test_the_foot_of_a_page_says_whose_it_is_and_what_is_folded_is_printed(open_page):
    page = open_page(HTML / "book" / "index.html")
    foot = page.locator("p.foot")
    text = foot.inner_text()
    (paper,) = yaml.safe_load((HERE / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    assert all(author["family-names"] in text for author in paper["authors"]) and "MIT licence" in text
    links = [link.get_attribute("href") for link in foot.locator("a").all()]
    assert links[0] == paper["url"] and links[-1] == "references.html"
    folded = "() => document.querySelectorAll('.bd-article details:not([open])').length"
    closed = page.evaluate(folded)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert closed > page.evaluate(folded) == 0
    page.emulate_media(media="print")
    assert page.locator(".bd-article :is(button, input):visible").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(folded) == closed


def test_a_word_of_the_glossary_opens_on_focus_and_on_hover(open_page):
    page = open_page(HTML / "book" / "theory.html")
    page.set_viewport_size(PHONE)
    word, meaning = page.locator("a.term", has_text="Moreau envelope"), page.get_by_role("tooltip")
    assert word.count() == 1 and not meaning.is_visible()
    for begin in (word.focus, word.hover):
        begin()
        meaning.wait_for(state="visible")
        assert "misfit of this sentence at its proximal point" in meaning.inner_text()
        assert word.get_attribute("aria-describedby") == meaning.get_attribute("id")
        box = meaning.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
        page.keyboard.press("Escape")
        assert not meaning.is_visible()
        word.blur()
        page.mouse.move(0, 0)


def test_a_touched_word_keeps_its_meaning_open_until_the_next_touch(open_page):
    page = open_page(HTML / "book" / "theory.html")
    touch, meaning = page.context.new_cdp_session(page), page.get_by_role("tooltip")
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.clock.install()
    word = page.locator("a.term", has_text="Moreau envelope")
    word.scroll_into_view_if_needed()
    for place, is_open in ((word, True), (page.locator(".bd-article p", has=word), False)):
        box = place.bounding_box()
        points = [{"x": box["x"] + 2, "y": box["y"] + 2}]
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.clock.run_for(500)  # a meaning closes 0.2 s after the pointer has left
        assert meaning.is_visible() == is_open and page.url.endswith("theory.html")


@pytest.mark.parametrize(("link", "content"), [("a[href*='#equation-']", "mjx-container"), ("a[href*='#fig']", "img")])
def test_equations_and_figures_open_at_links_to_them(open_page, link, content):
    links = f".bd-article {link}:visible"
    pages = (open_page(EXECUTED / f"{stem}.html") for stem in ("fig02_slice", "fig07_dimension", "fig08_parameters"))
    page = next(page for page in pages if page.locator(links).count())
    page.locator(links).first.focus()
    page.get_by_role("tooltip").locator(content).wait_for(state="visible")
    if content == "img":
        page.wait_for_function("() => document.querySelector('.term-meaning img').naturalWidth > 0")


@pytest.fixture(scope="module")
def previews():
    """Return the previews of links, by page and anchor."""
    text = (HTML / "_static" / "previews.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("const PREVIEWS = ").rstrip(";\n"))


def test_a_link_shows_the_equation_or_the_figure_that_it_leads_to_and_the_first_one_for_a_page(previews):
    shown = {"equation": 0, "figure": 0}
    for page in (page for page in PAGES if "api" not in page.parts):
        text = page.read_text(encoding="utf-8")
        for anchor, formula in re.findall(
            r'<div class="math[^>]* id="(equation-[^"]+)".*?\\\[(.*?)\\\]</div>', text, re.S
        ):
            formula = re.sub(r"\\(begin|end)\{split\}|\s", "", unescape(formula))
            assert formula in re.sub(r"\s", "", unescape(previews[f"{page.stem}#{anchor}"]))
            shown["equation"] += 1
        figures = re.findall(r'<figure [^>]*id="([^"]+)"', text)
        title = re.search(r'<section [^>]*id="([^"]+)"', text)
        for anchor, name in zip(figures and [title[1], *figures], [*figures[:1], *figures]):
            assert f"figures/{name}.svg" in previews[f"{page.stem}#{anchor}"]
            shown["figure"] += 1
    assert min(shown.values()) > 15


def test_every_term_of_the_glossary_is_used_and_has_a_meaning(previews):
    terms = {name.partition("#")[2]: text for name, text in previews.items() if name.startswith("glossary#")}
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    used = set(re.findall(r'class="term[^"]*" href="[^"]*glossary\.html#([^"]+)"', pages))
    assert len(terms) > 25 and set(terms) == used
    assert all(len(re.sub("<[^>]*>", "", meaning).split()) > 1 for meaning in terms.values())
    assert not any("#equation-" in meaning for meaning in terms.values())  # these numbers are on another page
    words = [name for name in re.findall(r"^(\w.*)\n  ", (HERE / "book/glossary.md").read_text(encoding="utf-8"), re.M)]
    assert words == sorted(words, key=str.lower)


def test_the_bibtex_is_that_of_the_citation_file(open_page):
    page = open_page(HTML / "book" / "references.html")
    shown = page.locator(".highlight-bibtex pre").inner_text()
    book = yaml.safe_load((HERE / "CITATION.cff").read_text(encoding="utf-8"))
    (paper,) = book["references"]
    authors = " and ".join(f"{author['family-names']}, {author['given-names']}" for author in paper["authors"])
    of_book = (f"{{{book['title']}}}", str(book["version"]), str(book["date-released"].year))
    for text in (*of_book, f"{{{paper['title']}}}", authors, paper["url"]):
        assert f"{{{text}}}" in shown
    assert shown.count("{") == shown.count("}")
    assert page.locator(".highlight-bibtex button.copybtn").count() == 1


def test_a_page_of_the_interface_describes_its_module_and_links_to_the_source():
    text = (HTML / "book" / "api" / "attention_phases.theory.solver.html").read_text(encoding="utf-8")
    described = text.split('<dt class="sig')[1:]
    assert len(described) > 3 and "_modules/attention_phases/theory/solver.html#" in described[0].partition("</dt>")[0]
