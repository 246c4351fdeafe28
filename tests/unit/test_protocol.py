"""What a reader gives: types that old versions of spaCy can make schemas of."""

from typing import get_args, get_origin, get_type_hints

import pytest

from refreader_spacy.protocol import Clues, Mentions, Part, Progress, Reading


@pytest.mark.parametrize("thing", [Reading, Clues, Mentions, Part, Progress])
def test_types_of_fields_are_classes(thing):
    for name, hint in get_type_hints(thing).items():
        for each in (hint, *get_args(hint)):
            assert isinstance(get_origin(each) or each, type), name
