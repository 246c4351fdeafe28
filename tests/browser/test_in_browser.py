"""The page in a real browser. Screenshots are written to output/screenshots."""

import json
import time
from pathlib import Path

import pytest
import spacy

pytest.importorskip("selenium", reason="needs pip install selenium")
from chromium import NoBrowser, look, open_browser
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from refreader_spacy.page.app import page_app
from refreader_spacy.page.pool import InProcess
from refreader_spacy.page.server import serving
from refreader_spacy.page.service import ReadingService

SCREENSHOTS = Path(__file__).parents[2] / "output" / "screenshots"
TEXT = (
    "Edith Moran met Thomas Hale in Dublin. She disliked his picture. Hale offered to "
    "burn it, but her father kept it until he died."
)
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> Ann "
    "Lee&amp; met שלום עולם because she 👩\u200d👩\u200d👧 was \u202ereversed\u202c. "
    "<b>Anna</b> told her so: \"'>`${window.hacked=1}` she\u200d left.\n\n\t\x07 end"
)


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    return nlp


@pytest.fixture(scope="module")
def address(nlp):
    with serving(
        page_app(InProcess(ReadingService(nlp.get_pipe("refreader"))))
    ) as address:
        yield address


@pytest.fixture(scope="module")
def any_browser():
    try:
        browser = open_browser()
    except NoBrowser as error:
        pytest.skip(str(error))
    yield browser
    browser.quit()


@pytest.fixture
def browser(any_browser, address):
    """At the page, which has read its example; nothing may be complained of."""
    look(any_browser)
    any_browser.get("about:blank")
    any_browser.get(address)
    wait_for(any_browser, "read")
    any_browser.get_log("browser")
    yield any_browser
    complaints = any_browser.get_log("browser")
    assert complaints == []


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.03)
    return found


def wait_for(browser, state, seconds=60):
    """Until the page has read its text, or met a problem."""
    asked = (
        "return [document.body.dataset.state,"
        " document.getElementById('problem').textContent]"
    )

    def is_there():
        found, problem = browser.execute_script(asked)
        assert found == state or found != "problem", problem
        return found == state

    wait_until(is_there, state, seconds)


def at(browser, name):
    return browser.find_element(By.ID, name)


def give(browser, text):
    """As if it were pasted."""
    browser.execute_script(
        "const area = document.getElementById('text'); area.value = arguments[0];"
        "area.dispatchEvent(new Event('input'))",
        text,
    )
    wait_for(browser, "read", 300)


def drag(browser, name, value):
    browser.execute_script(
        "const slider = document.getElementById(arguments[0]);"
        "slider.value = arguments[1]; slider.dispatchEvent(new Event('input'))",
        name,
        value,
    )


def go(browser, position):
    drag(browser, "position", position)
    shown = f"{position:,} of"
    wait_until(lambda: at(browser, "progress").text.startswith(shown), shown)


def position(browser):
    return int(at(browser, "position").get_attribute("value"))


def shown_text(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('.chunk')]"
        ".map(chunk => chunk.textContent).join('')"
    )


def shown_clusters(browser):
    """Mentions' texts by entity, sorted."""
    marks = browser.execute_script(
        "return [...document.querySelectorAll('mark[data-e]')]"
        ".map(mark => [Number(mark.dataset.e), mark.textContent])"
    )
    numbers = sorted({number for number, _ in marks})
    return sorted([text for n, text in marks if n == number] for number in numbers)


def found_clusters(nlp, text, threshold=None):
    """Those of the pipe, of which no visitor's wishes are known."""
    pipe = nlp.get_pipe("refreader")
    before = pipe.threshold
    pipe.threshold = before if threshold is None else threshold
    clusters = [[m.text for m in c] for c in nlp(text)._.coref_clusters]
    pipe.threshold = before
    return sorted(clusters)


def record_tokens(browser):
    browser.execute_script(
        "window.seen = [];"
        "document.addEventListener('token', event => window.seen.push(event.detail))"
    )


def test_what_is_typed_is_annotated_at_once(browser, nlp):
    area = at(browser, "text")
    area.clear()
    area.send_keys(TEXT)
    wait_until(lambda: shown_text(browser) == TEXT, "the text")
    wait_for(browser, "read")
    assert shown_clusters(browser) == found_clusters(nlp, TEXT)
    assert len(found_clusters(nlp, TEXT)) > 1
    assert at(browser, "resolved").text == nlp(TEXT)._.resolved_text


def test_mentions_that_cross_and_nest_are_whole(browser, nlp):
    """ "The mayor of Riverton's", which is mentioned once, crosses "Riverton's ..."."""
    text = "The mayor of Riverton's daughter told her mother's lawyer that she left."
    give(browser, text)
    marks = browser.find_elements(By.CSS_SELECTOR, "#reading mark:not(.lone)")
    shown = [mark.get_attribute("textContent").strip() for mark in marks]
    mentions = [span.text for cluster in nlp(text)._.coref_clusters for span in cluster]
    assert sorted(shown) == sorted(mentions)
    assert "Riverton's daughter" in mentions


def test_no_text_is_no_problem(browser):
    give(browser, "")
    assert shown_clusters(browser) == []
    at(browser, "play").click()
    assert not at(browser, "problem").is_displayed()


def test_playing_shows_each_token_once_in_order(browser):
    give(browser, "Ann Lee told Bo that she left. " * 63)
    browser.execute_script(
        "const speed = document.getElementById('speed'); speed.value = '1000';"
        "speed.dispatchEvent(new Event('change'))"
    )
    at(browser, "first").click()
    record_tokens(browser)
    at(browser, "play").click()
    seen = "return window.seen"
    wait_until(lambda: len(browser.execute_script(seen)) >= 504, "the end", 200)
    assert browser.execute_script(seen) == list(range(1, 505))
    wait_until(lambda: at(browser, "play").get_attribute("aria-label") == "Play", "")


def test_playing_can_be_paused_and_goes_on(browser):
    at(browser, "first").click()
    play = at(browser, "play")
    play.click()
    assert play.get_attribute("aria-label") == "Pause"
    wait_until(lambda: position(browser) >= 3, "three tokens")
    play.click()
    paused = position(browser)
    time.sleep(0.6)
    assert position(browser) == paused
    play.click()
    wait_until(lambda: position(browser) > paused, "another token")


def test_steps_keys_and_clicks_move_too(browser):
    at(browser, "first").click()
    slider = at(browser, "position")
    steps = [
        (lambda: at(browser, "forward").click(), 1),
        (lambda: at(browser, "forward").click(), 2),
        (lambda: at(browser, "back").click(), 1),
        (lambda: at(browser, "last").click(), 36),
        (lambda: at(browser, "reading").send_keys(Keys.HOME), 0),
        (lambda: at(browser, "reading").send_keys(Keys.ARROW_RIGHT), 1),
        (lambda: slider.send_keys(Keys.ARROW_RIGHT), 2),
        (lambda: browser.find_element(By.CSS_SELECTOR, "mark[data-e]").click(), 4),
    ]
    for act, expected in steps:
        act()
        wait_until(lambda e=expected: position(browser) == e, expected)
    at(browser, "reading").send_keys(" ")
    assert at(browser, "play").get_attribute("aria-label") == "Pause"


def test_cells_fill_fade_and_are_overwritten(browser):
    """The example begins: In 1934 Ruth Calder opened a school."""
    go(browser, 0)
    held = browser.find_elements(By.CSS_SELECTOR, ".holds")
    shown = [cell.text for cell in held if cell.is_displayed()]
    assert shown == ["empty", "empty"]
    assert len(held) > len(shown)  # of many cells those that hold nothing are hidden
    go(browser, 3)
    cells = browser.find_elements(By.CSS_SELECTOR, ".cell")
    (cell,) = [cell for cell in cells if "overwritten" in cell.text]
    assert cell.find_element(By.CSS_SELECTOR, ".holds").text == "Ruth"
    full = float(cell.find_element(By.CSS_SELECTOR, ".meters b").text)
    go(browser, 13)
    assert cell.find_element(By.CSS_SELECTOR, ".holds").text == "Ruth Calder"
    # Somebody who was mentioned twice outlives others for a while
    assert float(cell.find_element(By.CSS_SELECTOR, ".meters b").text) <= full


def test_a_link_springs_with_its_probability(browser, nlp):
    go(browser, 14)
    bubble = browser.find_element(By.CSS_SELECTOR, ".bubble")
    assert not bubble.is_displayed()
    at(browser, "forward").click()  # In 1934 Ruth Calder ... She
    wait_until(bubble.is_displayed, "the bubble")
    link = nlp(at(browser, "text").get_attribute("value"))._.coref_links[0]
    assert bubble.text == f"{100 * link.probability:.0f} % → Ruth Calder"
    arc = browser.find_element(By.CSS_SELECTOR, ".overlay path")
    assert arc.get_attribute("d")
    assert "She means Ruth Calder" in at(browser, "said").get_attribute("textContent")


def test_what_is_ahead_is_not_known_yet(browser):
    go(browser, 15)
    marks = browser.find_elements(By.CSS_SELECTOR, "mark[data-e]")
    known = ["ahead" not in mark.get_attribute("class") for mark in marks]
    assert known[0]
    assert not known[-1]


@pytest.mark.parametrize("value", [0, 300, 560, 1000])
def test_the_threshold_regroups_as_the_pipe_does(browser, nlp, value):
    give(browser, TEXT)
    drag(browser, "threshold", value)
    threshold = float(f"{10 ** (3 * (value - 1000) / 1000):.3g}")
    used = "return Number(document.body.dataset.threshold)"
    wait_until(lambda: browser.execute_script(used) == threshold, "the threshold")
    assert shown_clusters(browser) == found_clusters(nlp, TEXT, threshold)
    assert nlp.get_pipe("refreader").threshold != threshold


def test_a_chosen_entity_stands_out(browser, nlp):
    browser.find_element(By.CSS_SELECTOR, "#entities button").click()
    lit = browser.find_elements(By.CSS_SELECTOR, "mark.lit")
    first, *_ = nlp(at(browser, "text").get_attribute("value"))._.coref_clusters
    assert [mark.text for mark in lit] == [str(mention) for mention in first]


def test_a_file_is_read(browser, tmp_path, nlp):
    path = tmp_path / "story.txt"
    path.write_text(TEXT, "utf8")
    at(browser, "file").send_keys(str(path))
    wait_until(lambda: shown_text(browser) == TEXT, "the text")
    wait_for(browser, "read")
    assert shown_clusters(browser) == found_clusters(nlp, TEXT)


@pytest.mark.parametrize(
    ("data", "part"),
    [(b"\xff\xfe\x00", "no text in UTF-8"), (b"a " * 500_001, "1,000,002 bytes")],
)
def test_a_file_that_cannot_be_read_says_why(browser, tmp_path, data, part):
    path = tmp_path / "story.txt"
    path.write_bytes(data)
    at(browser, "file").send_keys(str(path))
    wait_for(browser, "problem")
    assert "story.txt" in at(browser, "problem").text
    assert part in at(browser, "problem").text
    give(browser, TEXT)
    assert not at(browser, "problem").is_displayed()


def n_entities(browser):
    return len(browser.find_elements(By.CSS_SELECTOR, "#entities button b"))


def test_hostile_text_shows_as_text(browser):
    n_elements = "return document.querySelectorAll('script, img, b').length"
    before = browser.execute_script(n_elements) - n_entities(browser)
    give(browser, HOSTILE)
    given = at(browser, "text").get_attribute("value")
    assert shown_text(browser) == given
    for position in range(0, 60, 7):
        drag(browser, "position", position)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(SCREENSHOTS / "hostile.png"))
    assert browser.execute_script(n_elements) == before + n_entities(browser)
    assert browser.execute_script("return window.hacked") is None


def test_100_kilobytes_are_read_and_grouped_and_played(browser, nlp):
    text = "".join(f"{TEXT} Part {i}.\n" for i in range(700))[:100_000]
    give(browser, text)
    assert shown_text(browser) == text
    assert (
        browser.execute_script("return document.querySelectorAll('mark').length") < 2000
    )
    drag(browser, "threshold", 700)
    used = "return Number(document.body.dataset.threshold)"
    wait_until(lambda: browser.execute_script(used) == 0.126, "the threshold")
    go(browser, 10_000)
    at(browser, "play").click()
    wait_until(lambda: position(browser) > 10_002, "playing")
    browser.save_screenshot(str(SCREENSHOTS / "long.png"))
    at(browser, "play").click()


def clipboard(browser):
    browser.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    return browser.execute_async_script(
        "const done = arguments[0]; window.focus();"
        "navigator.clipboard.readText().then(done, error => done(String(error)))"
    )


def press(browser, name, said):
    clipboard(browser)
    at(browser, name).click()
    wait_until(lambda: at(browser, "said").get_attribute("textContent") == said, said)
    return clipboard(browser)


def test_json_is_what_annotate_writes(browser, nlp):
    give(browser, TEXT)
    found = json.loads(press(browser, "copy-json", "JSON copied"))
    doc = nlp(TEXT)
    assert found["text"] == TEXT
    clusters = sorted([m[2] for m in c] for c in found["clusters"])
    assert clusters == found_clusters(nlp, TEXT)
    assert found["resolved_text"] == doc._.resolved_text
    assert [link["probability"] for link in found["links"]] == [
        round(link.probability, 4) for link in doc._.coref_links
    ]


def test_a_link_brings_the_same_state(browser):
    give(browser, HOSTILE)
    drag(browser, "threshold", 500)
    used = "return document.body.dataset.threshold"
    wait_until(lambda: browser.execute_script(used) == "0.0316", "the threshold")
    go(browser, 12)
    text, clusters = shown_text(browser), shown_clusters(browser)
    link = press(browser, "copy-link", "Link copied")
    browser.get("about:blank")
    browser.get(link)
    wait_for(browser, "read")
    assert (shown_text(browser), shown_clusters(browser)) == (text, clusters)
    assert at(browser, "position").get_attribute("value") == "12"
    assert at(browser, "threshold-shown").text == "3.2 %"


@pytest.mark.parametrize("damage", ["!!", "AAAA", "PHNjcmlwdD4"])
def test_a_damaged_link_says_so(browser, address, damage):
    browser.get(f"{address}#text={damage}")
    wait_for(browser, "problem")
    assert "damaged" in at(browser, "problem").text


def test_what_is_meant_for_ears_is_there(browser):
    """Every control has a name, and where the keyboard is can be seen."""
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    controls = [
        (node["role"]["value"], node.get("name", {}).get("value"))
        for node in nodes
        if node.get("role", {}).get("value")
        in ("button", "slider", "textbox", "combobox", "region", "image", "list")
    ]
    assert len(controls) > 15
    assert [role for role, name in controls if not name] == []
    seen = set()
    for _ in range(30):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        name, outline = browser.execute_script(
            "const it = document.activeElement;"
            "const shown = it.id === 'file' ? document.getElementById('open') : it;"
            "const isPage = it === document.body;"  # after the last, before the first
            "return [it.id, isPage ? 'page' : getComputedStyle(shown).outlineStyle]"
        )
        assert outline != "none", name
        seen.add(name)
    assert {"text", "file", "example", "reading", "play", "position"} <= seen
    assert {"speed", "threshold", "copy-json", "copy-link", "copy-resolved"} <= seen


def test_who_wants_no_motion_gets_none(browser):
    look(browser, reduced_motion="reduce")
    at(browser, "first").click()
    at(browser, "play").click()
    wait_until(lambda: position(browser) >= 4, "four tokens")
    assert browser.execute_script("return document.getAnimations().length") == 0
    at(browser, "play").click()


def test_nothing_comes_from_another_host(browser, address):
    names = browser.execute_script(
        "return performance.getEntriesByType('resource').map(entry => entry.name)"
    )
    assert len(names) > 5
    assert [name for name in names if not name.startswith(address)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_screen(browser, scheme, width):
    """Look at what this writes."""
    look(browser, width=width, height=900, color_scheme=scheme)
    go(browser, 22)
    overflow = "return document.documentElement.scrollWidth - innerWidth"
    assert browser.execute_script(overflow) <= 0
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(SCREENSHOTS / f"{scheme}-{width}.png"))


def test_a_server_that_is_gone_is_a_clear_word(any_browser, nlp):
    with serving(
        page_app(InProcess(ReadingService(nlp.get_pipe("refreader"))))
    ) as address:
        any_browser.get(address)
        wait_for(any_browser, "read")
    any_browser.execute_script(
        "const area = document.getElementById('text'); area.value = 'Ann.';"
        "area.dispatchEvent(new Event('input'))"
    )
    wait_for(any_browser, "problem")
    assert "can't be reached" in at(any_browser, "problem").text
    any_browser.get_log("browser")
