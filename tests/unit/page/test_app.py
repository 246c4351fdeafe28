import json
import re
from collections import defaultdict

import anyio
import httpx
import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from spacy.language import Language

from refreader_spacy.batching import read_docs
from refreader_spacy.page import service as service_module
from refreader_spacy.page.app import STATIC, page_app
from refreader_spacy.page.payload import CellContents
from refreader_spacy.page.pool import InProcess
from refreader_spacy.page.service import ReadingService
from refreader_spacy.pictures.markup import GLOWS, HUES
from refreader_spacy.protocol import Reading

TEXT = "Ann Lee met Bo-Jon because she was late. He told her so, and she left.\n" * 9
HOSTILE = "<script>alert(1)</script> שלום Ann 👩‍🚀 told her\x00 \u202e so.\r\n\t She"


@pytest.fixture(scope="module")
def packaged() -> Language:
    """With the weights in the package, which find something."""
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    return nlp


@pytest.fixture
def service(packaged) -> ReadingService:
    return ReadingService(packaged.get_pipe("refreader"))


class Client:
    """Asks the app, without a network."""

    def __init__(self, app) -> None:
        self.transport = httpx.ASGITransport(app)

    def ask(self, method: str, path: str, **kwargs) -> httpx.Response:
        async def asking() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=self.transport, base_url="http://page"
            ) as client:
                return await client.request(method, path, **kwargs)

        return anyio.run(asking)

    def get(self, path: str) -> httpx.Response:
        return self.ask("GET", path)

    def post(self, path: str, **kwargs) -> httpx.Response:
        return self.ask("POST", path, **kwargs)


@pytest.fixture
def client(service) -> Client:
    return Client(page_app(InProcess(service), limit=2000, hosts=["page"]))


def events(answer) -> list[tuple[str, dict]]:
    """Server-sent events, as the page reads them."""
    found = re.findall(r"event: (.*)\ndata: (.*)\n\n", answer.text)
    return [(event, json.loads(data)) for event, data in found]


def in_characters(nlp, text: str, threshold: float) -> list:
    """The clusters of a pipe with this threshold."""
    pipe = nlp.get_pipe("refreader")
    before, pipe.threshold = pipe.threshold, threshold
    clusters = nlp(text)._.coref_clusters
    pipe.threshold = before
    return [
        [[m.start_char, m.end_char, m.text] for m in cluster] for cluster in clusters
    ]


def test_a_text_is_read_as_it_comes(client):
    names = [name for name, _ in events(client.post("/read", content=TEXT))]
    assert names[0] == "start"
    assert names.count("read") > 1
    assert names[-1] == "found"


@pytest.mark.parametrize("text", [TEXT, HOSTILE, "", " \n", "Bo"])
def test_tokens_are_the_text_and_each_has_its_cells(client, service, text):
    told = events(client.post("/read", content=text.encode()))
    pieces = [data for name, data in told if name == "read"]
    tokens = [token for piece in pieces for token in piece["tokens"]]
    assert "".join(tokens) == text
    for token, cell, *_, held in changes(pieces):
        assert 0 <= token < len(tokens)
        assert 0 <= cell < service.n_cells
        assert -1 <= held <= token


def changes(pieces: list) -> list:
    return [change for piece in pieces for change in piece["cells"]]


def test_cells_tell_what_the_pipe_traces(client, packaged):
    model = packaged.get_pipe("refreader").model
    (part,) = read_docs(model, [packaged.make_doc(TEXT)], gates=True)
    told = [data for name, data in events(client.post("/read", content=TEXT))[1:-1]]
    update, overwrite, salience = (
        np.zeros_like(part.gates.update) for _ in ("update", "overwrite", "salience")
    )
    for token, cell, updated, overwritten, present, _ in changes(told):
        update[token, cell], overwrite[token, cell] = updated, overwritten
        salience[token:, cell] = present  # until it changes
    np.testing.assert_allclose(update, part.gates.update, atol=6e-4)
    np.testing.assert_allclose(overwrite, part.gates.overwrite, atol=6e-4)
    np.testing.assert_allclose(salience, part.gates.salience, atol=6e-4)


def test_only_cells_in_use_are_sent(client, service):
    told = [data for name, data in events(client.post("/read", content=TEXT))[1:-1]]
    n_tokens = sum(len(piece["tokens"]) for piece in told)
    used = {cell for _, cell, *_ in changes(told)}
    assert 1 < len(used) < service.n_cells
    assert len(changes(told)) < n_tokens * len(used)


def test_what_is_decided_on_the_way_is_what_is_found(client):
    *told, (_, found) = events(client.post("/read", content=TEXT))
    # Beginnings of longer mentions are told on the way too
    on_the_way = [item for name, data in told[1:] for item in data["mentions"]]
    assert all(mention in on_the_way for mention in found["mentions"])
    assert found["mentions"]
    assert found["links"]


@pytest.mark.parametrize("threshold", [0, 0.005, 0.02, 0.1, 0.4, 1])
def test_any_threshold_groups_as_the_pipe_does(client, packaged, threshold):
    expected = in_characters(packaged, TEXT, threshold)
    _, found = events(client.post("/read", content=TEXT))[-1]
    place = {"name": found["name"], "threshold": threshold}
    again = client.post("/regroup", params=place).json()
    assert again["record"]["clusters"] == expected
    _, anew = events(client.post(f"/read?threshold={threshold}", content=TEXT))[-1]
    assert anew == again


def test_groups_are_the_records_clusters(client):
    *_, (_, found) = events(client.post("/read", content=TEXT))
    sizes = defaultdict(int)
    for _, _, entity, _ in found["mentions"]:
        sizes[entity] += 1
    shared = [entity for entity, size in sizes.items() if size > 1]
    assert len(shared) == len(found["record"]["clusters"]) == len(found["names"])
    assert found["record"]["text"] == TEXT


def test_visitors_do_not_disturb_each_other(service, packaged):
    other = TEXT.replace("Ann Lee", "Bo").replace("her", "him")
    visits = [service.read(TEXT, 0.01), service.read(other, 0.2)]
    last = [[], []]
    for _ in range(50):
        for i, visit in enumerate(visits):
            last[i] = next(visit, last[i])
    clusters = [message.data["record"]["clusters"] for message in last]
    assert clusters[0]
    assert clusters[0] == in_characters(packaged, TEXT, 0.01)
    assert clusters[1] == in_characters(packaged, other, 0.2)


def test_the_oldest_reading_is_forgotten(client, monkeypatch):
    monkeypatch.setattr(service_module, "MAX_STORED", 9)
    names = [
        events(client.post("/read", content=text))[-1][1]["name"]
        for text in ("Ann told her so.", "Bo told him that.")
    ]
    ask = [{"name": name, "threshold": 0.5} for name in names]
    gone = client.post("/regroup", params=ask[0])
    assert (gone.status_code, "R264" in gone.json()["problem"]) == (410, True)
    assert client.post("/regroup", params=ask[1]).status_code == 200


@pytest.mark.parametrize(
    ("path", "content", "status", "part"),
    [
        ("/read", b"a" * 2001, 413, "2,000 bytes"),
        ("/read", "Émile".encode("latin1"), 400, "UTF-8"),
        ("/read?threshold=2", b"Ann", 400, "'2'"),
        ("/read?threshold=nan", b"Ann", 400, "'nan'"),
        ("/read?threshold=many", b"Ann", 400, "'many'"),
        ("/regroup?threshold=0.5", b"", 410, "R264"),
    ],
)
def test_what_went_wrong_is_said(client, path, content, status, part):
    answer = client.post(path, content=content)
    assert answer.status_code == status
    assert part in answer.json()["problem"]


def test_a_problem_while_reading_is_the_last_event(client, service, monkeypatch):
    def fails(text):
        raise ValueError("no such word")

    monkeypatch.setattr(service.reader, "tokenizer", fails)
    told = events(client.post("/read", content="Ann told her."))
    assert told[-1] == ("problem", {"problem": "no such word"})


def test_annotate_answers_what_the_pipe_finds(client, packaged):
    asked = {"text": TEXT, "id": ["a", 1], "threshold": 0.4}
    answer = client.post("/annotate", json=asked).json()
    assert (answer["id"], answer["text"]) == (["a", 1], TEXT)
    found = [[list(m) for m in cluster] for cluster in answer["clusters"]]
    assert found == in_characters(packaged, TEXT, 0.4)
    assert found
    assert all(link["probability"] >= 0.4 for link in answer["links"])
    default = client.post("/annotate", json={"text": TEXT}).json()
    pipe = packaged.get_pipe("refreader")
    assert default["clusters"] == in_characters(packaged, TEXT, pipe.threshold)
    assert default["id"] is None


@pytest.mark.parametrize("text", [TEXT, HOSTILE, "", "Bo"])
def test_annotate_is_as_its_description_says(client, text):
    description = client.get("/openapi.json").json()
    validate(description)
    (operation,) = description["paths"]["/annotate"].values()
    answer = client.post("/annotate", json={"text": text})
    schema = operation["responses"][str(answer.status_code)]["content"]
    root = {**schema["application/json"]["schema"], **description}
    Draft202012Validator(root).validate(answer.json())
    assert "clusters" in answer.json()


@pytest.mark.parametrize(
    ("content", "status", "part"),
    [
        (b'{"text": "' + b"a" * 2001, 413, "2,000 bytes"),
        (b"Ann lost her key.", 400, "R258"),
        (b'["Ann"]', 400, "R258"),
        (b"{}", 400, "text: Field required"),
        (b'{"text": 3}', 400, "text: Input should be a valid string"),
        (b'{"text": "Ann", "threshold": 2}', 400, "threshold"),
        (b'{"text": "Ann", "treshold": 0.2}', 400, "treshold"),
        (b'{"text": "\\ud800"}', 400, "R258"),
        (b'{"text": "Ann", "id": NaN}', 400, "id: Out of range"),
        (b'{"text": "Ann", "id": [1e999]}', 400, "id: Out of range"),
        (b"[" * 1500, 400, "R258"),
        (b"\xff", 400, "UTF-8"),
    ],
)
def test_annotate_says_what_went_wrong(client, content, status, part):
    answer = client.post("/annotate", content=content)
    assert answer.status_code == status
    assert part in answer.json()["problem"]


def test_annotate_says_what_could_not_be_read(client, service, monkeypatch):
    def fails(text):
        raise ValueError("no such word")

    monkeypatch.setattr(service.reader, "tokenizer", fails)
    answer = client.post("/annotate", json={"text": "Ann told her."})
    assert (answer.status_code, answer.json()) == (422, {"problem": "no such word"})


@pytest.mark.parametrize("path", ["/", "/page.js", "/nothing", "/read"])
def test_nothing_may_come_from_elsewhere(client, path):
    policy = client.get(path).headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy


def test_files_name_no_other_host_and_write_no_markup():
    for path in STATIC.iterdir():
        text = path.read_text("utf8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|innerHTML|outerHTML|write\(", text)
        assert "insertAdjacentHTML" not in text


def test_only_files_of_the_page_are_served(client):
    assert client.get("/../app.py").status_code == 404
    assert client.get("/%2e%2e/app.py").status_code == 404
    assert client.get("/page.css").headers["content-type"].startswith("text/css")


def test_entities_have_the_pictures_colours():
    styles = (STATIC / "page.css").read_text("utf8")
    found = re.findall(r"--hue\d: (#\w+);", styles)
    assert tuple(found) == HUES + GLOWS


@st.composite
def readings(draw):
    shape = draw(st.integers(0, 12)), draw(st.integers(1, 3))
    share, overwrite = draw(
        arrays(np.float32, (2, *shape), elements=st.floats(0, 1, width=16))
    )
    return Reading((1 - overwrite) * share, overwrite, overwrite)


@given(readings(), st.integers(0, 12))
def test_a_cell_holds_the_token_with_the_largest_share(reading, cut):
    """The share is what a token wrote, times what each later token left."""
    n_tokens, n_cells = reading.update.shape
    contents = CellContents(n_cells)
    parts = [
        Reading(reading.update[part], reading.overwrite[part], reading.salience[part])
        for part in (slice(0, cut), slice(cut, None))
    ]
    found = np.concatenate([contents.read(part) for part in parts])
    for last in range(n_tokens):
        for cell in range(n_cells):
            shares = [
                (float(reading.update[i, cell]) + float(reading.overwrite[i, cell]))
                * np.prod(1 - reading.overwrite[i + 1 : last + 1, cell].astype(float))
                for i in range(last + 1)
            ]
            held = found[last, cell]
            if held < 0:
                assert max(shares) == 0
            else:
                assert shares[held] == pytest.approx(max(shares))
