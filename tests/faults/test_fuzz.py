"""Whatever is in a file: it is read, or there is a message of ours.

`make fuzz` tries many more of each kind.
"""

import json
import time
from pathlib import Path
from urllib.parse import quote

import anyio
import httpx
import pytest
import spacy
from fuzzing import OURS, SECONDS, N, message, put, tries
from mutations import mutated

from refreader_spacy.bulk.readers import read_source
from refreader_spacy.bulk.records import Rejected
from refreader_spacy.bulk.shards import Manifest
from refreader_spacy.bulk.sources import Fields, Source, Unit
from refreader_spacy.corpora.conll2012 import read_conll2012
from refreader_spacy.corpora.corefud import read_corefud
from refreader_spacy.corpora.craft import read_craft
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.corpora.gold_docs import gold_doc
from refreader_spacy.corpora.jsonlines import read_jsonlines
from refreader_spacy.corpora.marked_text import read_marked
from refreader_spacy.corpora.prodigy import read_prodigy
from refreader_spacy.page.app import page_app
from refreader_spacy.page.pool import InProcess
from refreader_spacy.page.service import ReadingService

CONLL = """#begin document (a); part 000
a 0 0 Ann - (1)
a 0 1 told - -
a 0 2 the - (2
a 0 3 captain - (3)
a 0 4 of - -
a 0 5 Bob - 2)|(4)

a 0 0 She - (1)
a 0 1 left - -

#end document
"""
COREFUD = """# newdoc id = GUM_bio_ada
# global.Entity = GRP-etype-infstat-minspan-identity
# sent_id = 1
# speaker = Ann
# text = Ada's friend saw her.
1-2\tAda's\t_\t_\t_\t_\t_\t_\t_\t_
1\tAda\t_\tPROPN\t_\t_\t3\t_\t_\tEntity=(1-person-new-3-x(2-person-new-1-Ada|SpaceAfter=No
2\t's\t_\tPART\t_\t_\t1\t_\t_\tEntity=2)
3\tfriend\t_\tNOUN\t_\t_\t4\t_\t_\tEntity=1)
4\tsaw\t_\tVERB\t_\t_\t0\t_\t_\t_
5\ther\t_\tPRON\t_\t_\t4\t_\t_\tEntity=(2-person-giv-1)|SplitAnte=1<3,2<3
6\t.\t_\tPUNCT\t_\t_\t4\t_\t_\t_

"""
JSONLINES = json.dumps(
    {
        "doc_key": "nw/a_0",
        "sentences": [["Ann", "left", "."], ["She", "did"]],
        "speakers": [["A", "A", "A"], ["-", "-"]],
        "clusters": [[[0, 0], [3, 3]], [[0, 1]]],
    }
)
CRAFT = json.dumps(
    {
        "id": "1",
        "text": "The gene (Daz1) binds. It works.\n\nMice have it.",
        "clusters": [[[[0, 15]], [[23, 25]]], [[[4, 8], [26, 31]]], [[[34, 38]]]],
    }
)
MARKED = """### e-mail
[p1 [p2 My] sister, [p1 Ada]], left. [p1 She] took [j3 [p2 my] bike].

### note
It rains.
"""
PRODIGY = json.dumps(
    {
        "tokens": [{"text": "Ann", "ws": True}, {"text": "lost"}, {"text": "hers"}],
        "spans": [{"token_start": 0, "token_end": 0, "label": "person"}],
        "relations": [
            {
                "head_span": {"token_start": 0, "token_end": 0},
                "child_span": {"token_start": 2, "token_end": 2},
            }
        ],
        "answer": "accept",
        "meta": {"document": "a", "sentence_starts": [0, 1]},
    }
)
ASKED = b'{"text": "Ann told Bo.", "id": [1.5, {"a": "b"}], "threshold": 0.5}'
nlp = spacy.blank("en")


def documents(read):
    def read_docs(path: Path) -> None:
        for document in read(path):
            gold_doc(document, nlp.vocab)

    return read_docs


def read_gap_docs(path: Path) -> None:
    list(gap_examples(read_gap(path), nlp))


READERS = {
    "conll2012": (CONLL, documents(read_conll2012)),
    "corefud": (COREFUD, documents(read_corefud)),
    "jsonlines": (JSONLINES, documents(read_jsonlines)),
    "craft": (CRAFT, documents(lambda path: read_craft(path, nlp))),
    "marked": (MARKED, documents(lambda path: read_marked(path, nlp))),
    "prodigy": (PRODIGY, documents(read_prodigy)),
    "gap": (None, read_gap_docs),
}


@pytest.mark.parametrize("name", READERS)
def test_any_corpus_is_read_or_there_is_a_message(name, tmp_path, gap_file):
    sample, read = READERS[name]
    data = gap_file.read_bytes() if sample is None else sample.encode()
    path = tmp_path / "file"
    for chance in tries(name):
        put(path, mutated(data, chance))
        started = time.process_time()
        assert OURS.match(message(lambda: read(path)))
        assert time.process_time() - started < SECONDS


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("jsonlines", '"nw/a_0"', "[" * 10_000),
        ("jsonlines", "Ann", "\\ud800"),
        ("jsonlines", "[0, 1]", "[0, 1.0]"),
        ("craft", "[0, 15]", f"[0, {'9' * 30}]"),
        ("craft", "[0, 15]", "[0, 1e999]"),
        ("craft", '"1"', "[" * 10_000),
        ("prodigy", '"lost"', '""'),
        ("conll2012", "a 0 1 told", "a 0 1  \t -"),
        ("corefud", "3\tfriend", "9" * 5000 + "\tfriend"),
        ("corefud", "1-2\t", f"1-{'9' * 5000}\t"),
    ],
)
def test_what_was_found_once_has_a_message(name, old, new, tmp_path):
    sample, read = READERS[name]
    path = tmp_path / "file"
    path.write_text(sample.replace(old, new, 1))
    with pytest.raises(ValueError, match=OURS):
        read(path)


def test_any_line_is_a_record_or_rejected(tmp_path):
    data = (
        b'{"text": "Ann lost her key.", "id": [1, {"a": "b"}]}\n{"text": "Bo", "id": 7}'
    )
    path = tmp_path / "in.jsonl"
    for chance in tries("records"):
        put(path, mutated(data, chance))
        for record in read_source(Source(0, (str(path),), Unit.JSON), Fields()):
            json.dumps(record.id, ensure_ascii=False).encode()
            if isinstance(record, Rejected):
                assert record.reason
            else:
                record.text.encode()


def test_any_request_has_an_answer():
    """The page reads it, or says what is wrong: never an error of the server."""
    reader = spacy.blank("en").add_pipe("refreader")
    app = page_app(InProcess(ReadingService(reader)), limit=4000)

    async def ask() -> None:
        transport = httpx.ASGITransport(app)
        where = {"transport": transport, "base_url": "http://localhost"}
        async with httpx.AsyncClient(**where) as client:
            for chance in tries("page", N // 3):
                path = chance.choice(
                    ["/read", "/regroup", "/annotate", "/page.js", "/"]
                )
                query = mutated(b"threshold=0.5&name=abc", chance)[:300]
                text = ASKED if path == "/annotate" else b"Ann told Bo that she lost."
                answer = await client.request(
                    chance.choice(["GET", "POST", "PUT", "HEAD"]),
                    f"{path}?{quote(query, safe='=&%')}",
                    content=mutated(text, chance),
                )
                assert answer.status_code < 500

    anyio.run(ask)


def test_any_manifest_is_gone_on_with_or_there_is_a_message(tmp_path):
    shard = '{"source": 0, "piece": 1, "texts": 5, "rejected": 0, "words": 9, '
    data = f'{{"refreader annotate": 1}}\n{shard}"end": [5, 99, 5]}}\n'.encode()
    path = tmp_path / "manifest.jsonl"
    for chance in tries("manifest"):
        put(path, mutated(data, chance))
        assert OURS.match(message(lambda: Manifest(tmp_path, {})))
