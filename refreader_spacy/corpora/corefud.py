"""CoNLL-U with coreference in its last column, as CorefUD and GUM have it: read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from refreader_spacy.corpora.brackets import Brackets
from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.lines import numbered_lines
from refreader_spacy.corpora.trees import Tree
from refreader_spacy.errors import Errors

ID, FORM, TAG, HEAD, MISC, N_COLUMNS = 0, 1, 3, 6, 9, 10
FIELDS = ["eid", "etype", "head", "other"]  # of a mention, where a file doesn't say
TYPE_FIELDS = ("etype", "entity")
COMMENT = re.compile(r"#\s*([^=]*?)\s*(?:=\s*(.*?)\s*)?")
NUMBER = r"(\d{1,9})"
WORD_ID, RANGE_ID, EMPTY_ID = NUMBER, f"{NUMBER}-{NUMBER}", rf"{NUMBER}\.{NUMBER}"
BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<alone>\))?|(?P<closed>[^()]+)\)")
DISCONTINUOUS = re.compile(r".*\[(\d+)/\d+\]")


def read_corefud(path: Path, scheme: str = "corefud") -> Iterator[GoldDocument]:
    """The documents of a file, one after the other.

    Tokens are the syntactic words: empty nodes are left out, and so are mentions that
    are discontinuous or of empty nodes only, which `n_skipped` counts.
    """
    parser = _DocumentParser(path, path.stem, scheme, FIELDS)
    for number, line in numbered_lines(path):
        if not line.strip():
            parser.end_sentence()
        elif not line.startswith("#"):
            parser.add_row(number, line)
        elif match := COMMENT.fullmatch(line):
            key, value = match[1], match[2] or ""
            if key in ("newdoc", "newdoc id"):
                if parser.document.words:
                    yield parser.finished()
                id = value or path.stem
                parser = _DocumentParser(path, id, scheme, parser.fields)
            parser.add_comment(key, value)
    if parser.document.words:
        yield parser.finished()


class _DocumentParser:
    """What is known of one document while its lines come."""

    def __init__(self, path: Path, id: str, scheme: str, fields: list[str]) -> None:
        self.path = path
        self.document = GoldDocument(id, scheme)
        self.fields = fields  # of a mention
        self.speaker = ""
        self.tree = Tree()
        self.brackets = Brackets[tuple[list[str], int]]()
        self.n_empty = 0  # nodes so far
        self.sentence = 0  # its first token
        self.ids: dict[str, int] = {}  # of its words -> token
        self.heads: list[tuple[int, str]] = []  # of its words: line, id
        self.rest = ""  # of a multiword token that its words haven't spelled yet
        self.last_in_range, self.space_after_range = 0, True

    def add_comment(self, key: str, value: str) -> None:
        if key == "global.Entity":
            self.fields = value.split("-")
        elif key == "speaker":
            self.speaker = value
        elif key == "meta::genre":
            self.document.genre = value

    def add_row(self, number: int, line: str) -> None:
        columns = line.split("\t")
        if len(columns) != N_COLUMNS:
            raise self._error(Errors.R401, number, found=len(columns))
        id, form = columns[ID], columns[FORM]
        items = (item.partition("=") for item in columns[MISC].split("|"))
        misc = {key: value for key, sign, value in items if sign}
        space = misc.get("SpaceAfter") != "No"
        if match := re.fullmatch(RANGE_ID, id):
            self.rest, self.last_in_range = form, int(match[2])
            self.space_after_range = space
            return
        is_word = re.fullmatch(WORD_ID, id) is not None
        if not form.strip() or not (is_word or re.fullmatch(EMPTY_ID, id)):
            raise self._error(Errors.R402, number, found=f"{id} {form}")
        if is_word:
            token = len(self.document.words)
            if not self.ids:
                self.document.sentence_starts.append(token)
            self.ids[id] = token
            self.heads.append((number, columns[HEAD]))
            self.tree.tags.append(columns[TAG])
            self.document.add_word(form, self._space(int(id), form, space))
        else:
            self.n_empty += 1
        if "Entity" in misc:
            self._add_brackets(number, misc["Entity"], is_word)
        if "SplitAnte" in misc:
            self._add_split(number, misc["SplitAnte"])

    def _space(self, id: int, form: str, space: bool) -> bool:
        """Inside a multiword token there is none, if its words are what is written."""
        if id > self.last_in_range:
            return space
        if id == self.last_in_range:
            self.rest = ""
            return self.space_after_range
        follows = self.rest.startswith(form)
        self.rest = self.rest[len(form) :] if follows else ""
        return not follows

    def _add_brackets(self, number: int, value: str, is_word: bool) -> None:
        # On an empty node, one opens at the next word and closes at the one before
        end = len(self.document.words)
        start = end - 1 if is_word else end
        position = 0
        while position < len(value):
            match = BRACKET.match(value, position)
            if match is None:
                raise self._error(Errors.R403, number, found=value)
            position = match.end()
            entity = match["closed"]
            if match["opened"]:
                given = match["opened"].split("-", len(self.fields) - 1)
                n_before = self.n_empty - (not is_word)
                self.brackets.open(given[0], start, number, (given, n_before))
                entity = given[0] if match["alone"] else None
            if entity is None:
                continue
            if not self.brackets.is_open(entity):
                raise self._error(Errors.R404, number, found=f"{entity})")
            first, line, (given, n_before) = self.brackets.close(entity)
            named = dict(zip(self.fields, given, strict=False))
            if n_before < self.n_empty:  # they count in the head's number
                named.pop("head", None)
            self._add_mention(line, first, end, given[0], named)

    def _add_mention(
        self, number: int, start: int, end: int, entity: str, named: dict[str, str]
    ) -> None:
        if start >= end:
            self.document.n_skipped += 1
        elif match := DISCONTINUOUS.fullmatch(entity):
            self.document.n_skipped += match[1] == "1"  # once, not for each part
        else:
            head = self._tokens(number, start, end, named.get("head", ""))
            core = self._tokens(number, start, end, named.get("minspan", ""))
            label = next((named[f] for f in TYPE_FIELDS if f in named), "")
            mention = GoldMention(start, end, head[0] if head else None, unquote(label))
            self.tree.cores[start, end] = core
            self.document.add_mention(entity, mention)

    def _tokens(self, number: int, start: int, end: int, named: str) -> list[int]:
        """Words by their number in the mention, such as 2 or 1,3."""
        try:
            tokens = [start + int(i) - 1 for i in named.split(",")] if named else []
        except ValueError:
            tokens = [-1]
        if not all(start <= token < end for token in tokens):
            raise self._error(Errors.R407, number, found=named, size=end - start)
        return tokens

    def _add_split(self, number: int, value: str) -> None:
        for relation in value.split(","):
            part, sign, whole = relation.partition("<")
            if not (part and sign and whole):
                raise self._error(Errors.R405, number, found=value)
            parts = self.document.split_antecedents.setdefault(whole, [])
            if part not in parts:
                parts.append(part)

    def end_sentence(self) -> None:
        """Find the words that others name as their heads; the speaker has spoken."""
        for number, head in self.heads:
            if head not in self.ids and head not in ("0", "_"):
                raise self._error(Errors.R406, number, found=head)
            self.tree.add(self.ids.get(head), is_known=head != "_")
        end = len(self.document.words)
        self.document.add_turn(self.sentence, end, self.speaker)
        self.sentence, self.speaker = end, ""
        self.ids, self.heads = {}, []
        self.rest, self.last_in_range = "", 0

    def finished(self) -> GoldDocument:
        self.end_sentence()
        for entity, number in self.brackets.left_open():
            raise self._error(Errors.R404, number, found=f"({entity}")
        for mentions in self.document.entities.values():
            for i, mention in enumerate(mentions):
                if mention.head is None:
                    head = self.tree.head(mention.start, mention.end)
                    mentions[i] = mention._replace(head=head)
        return self.document

    def _error(self, message: str, number: int, **found: object) -> ValueError:
        return ValueError(message.format(path=self.path, line=number, **found))
