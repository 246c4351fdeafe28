"""CoNLL-2012 columns: read and written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from refreader_spacy.corpora.brackets import Brackets, bracketed
from refreader_spacy.corpora.document import (
    GoldDocument,
    GoldMention,
    without_white_space,
)
from refreader_spacy.corpora.lines import numbered_lines
from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.spacing import guessed_spaces

WORD, SPEAKER, COREF = 3, 9, -1  # columns
N_COLUMNS = 12  # where there are all, and not only the few that this reader needs
NONE = frozenset(("", "-", "_", "*"))
PART = re.compile(r"(\()?([^()\s]+)(\))?")
BEGIN = re.compile(r"#begin document \(?(.*?)\)?;?(?: part (\d{1,9}))?\s*")


def read_conll2012(path: Path, scheme: str = "conll2012") -> Iterator[GoldDocument]:
    """The documents of a file, or the parts of each.

    The columns don't say where spaces are, so they are guessed.
    """
    parser = _DocumentParser(path, path.stem, scheme)
    for number, line in numbered_lines(path):
        if not line.strip():
            parser.at_start = True
        elif match := BEGIN.fullmatch(line):
            if parser.document.words:
                yield parser.finished()
            id = match[1] or path.stem
            part = f"_{int(match[2])}" if int(match[2] or 0) else ""
            parser = _DocumentParser(path, id + part, scheme)
        elif not line.startswith("#"):
            parser.add_row(number, line)
    if parser.document.words:
        yield parser.finished()


class _DocumentParser:
    """What is known of one document while its lines come."""

    def __init__(self, path: Path, id: str, scheme: str) -> None:
        self.path = path
        self.document = GoldDocument(id, scheme)
        self.at_start = True  # of a sentence
        self.brackets = Brackets[None]()

    def add_row(self, number: int, line: str) -> None:
        columns = line.split("\t" if "\t" in line else None)
        if len(columns) <= WORD + 1 or not columns[WORD].strip():
            raise self._error(Errors.R354, number, line.strip()[:40])
        document = self.document
        token = len(document.words)
        if self.at_start:
            document.sentence_starts.append(token)
            self.at_start = False
        document.add_word(columns[WORD].strip())
        if len(columns) >= N_COLUMNS and columns[SPEAKER] not in NONE:
            document.add_turn(token, token + 1, columns[SPEAKER])
        for part in columns[COREF].strip().split("|"):
            if part in NONE:
                continue
            match = PART.fullmatch(part)
            if match is None or not (match[1] or match[3]):
                raise self._error(Errors.R355, number, part)
            if match[1]:
                self.brackets.open(match[2], token, number, None)
            if match[3]:
                if not self.brackets.is_open(match[2]):
                    raise self._error(Errors.R355, number, part)
                start, _, _ = self.brackets.close(match[2])
                document.add_mention(match[2], GoldMention(start, token + 1))

    def finished(self) -> GoldDocument:
        for entity, number in self.brackets.left_open():
            raise self._error(Errors.R355, number, f"({entity}")
        self.document.spaces = guessed_spaces(self.document.words)
        return self.document

    def _error(self, message: str, number: int, found: str) -> ValueError:
        return ValueError(message.format(path=self.path, line=number, found=found))


def conll2012_lines(documents: Iterable[GoldDocument]) -> Iterator[str]:
    """The documents in twelve columns, of which word, speaker and coreference are used.

    Tokens of white space only are left out, as columns are separated by white space.
    """
    for document in map(without_white_space, documents):
        id = "_".join(document.id.split()) or "document"
        numbers = {entity: str(n) for n, entity in enumerate(document.entities)}
        opened, closed, alone = bracketed(document)
        speakers = {
            token: "_".join(turn.speaker.split())
            for turn in document.turns
            for token in range(turn.start, turn.end)
        }
        yield f"#begin document ({id}); part 000"
        for start, end in document.sentences():
            for i in range(start, end):
                parts = [
                    *(f"{numbers[entity]})" for entity, _ in closed[i]),
                    *(f"({numbers[entity]}" for entity, _ in opened[i]),
                    *(f"({numbers[entity]})" for entity, _ in alone[i]),
                ]
                word = "".join(document.words[i].split())
                columns = [id, "0", str(i - start), word, *"-----"]
                columns += [speakers.get(i, "-"), "*", "|".join(parts) or "-"]
                yield "\t".join(columns)
            yield ""
        yield "#end document"
