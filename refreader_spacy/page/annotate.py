"""`POST /annotate`: what is asked, what is answered, and its OpenAPI description."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic.json_schema import models_json_schema

from refreader_spacy.errors import Errors

Mention = tuple[int, int, str]


class Asked(BaseModel):
    """A text to annotate."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(description="Plain text, at most 1 MB.")
    id: JsonValue = Field(default=None, description="Comes back with the answer.")
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="A link counts from here."
    )


class Link(BaseModel):
    """Two mentions of one entity, as [start, end, text] in characters."""

    antecedent: Mention = Field(description="The earlier mention.")
    anaphor: Mention = Field(description="The later mention, which refers back.")
    probability: float = Field(description="At least the threshold.")


class Annotation(BaseModel):
    """What was found: mentions are [start, end, text] in characters of the text."""

    id: JsonValue = Field(description="The id of the request, or null.")
    text: str = Field(description="The text of the request.")
    clusters: list[list[Mention]] = Field(
        description="The mentions of each entity in text order."
    )
    links: list[Link] = Field(description="In the order of the anaphors.")
    resolved_text: str = Field(description="The text with its pronouns replaced.")


class Problem(BaseModel):
    """Why there is no answer."""

    problem: str = Field(description="What was wrong with the request.")


PROBLEMS = {
    400: "The request is not as described",
    403: "The request comes from another site, or asks another host",
    408: "The request took too long to come",
    413: "The text is too long",
    422: "The text can't be read",
}


def asked_annotation(data: str) -> Asked:
    """What a request's body asks for."""
    try:
        asked = Asked.model_validate_json(data)
        json.dumps(asked.id, allow_nan=False)  # NaN is no JSON, but can be read as such
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        found = f"{place}: {first['msg']}" if place else first["msg"]
        raise ValueError(Errors.R258.format(found=found)) from error
    except ValueError as error:
        raise ValueError(Errors.R258.format(found=f"id: {error}")) from error
    return asked


def openapi() -> dict[str, Any]:
    """The endpoint as OpenAPI 3.1 describes it."""
    models: list[Any] = [
        (model, "validation") for model in (Asked, Link, Annotation, Problem)
    ]
    _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")
    answers = {"200": _content("Clusters and links", "Annotation")}
    answers |= {str(code): _content(why, "Problem") for code, why in PROBLEMS.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "refreader", "version": version("refreader-spacy")},
        "paths": {
            "/annotate": {
                "post": {
                    "summary": "Find which mentions of a text refer to the same entity",
                    "operationId": "annotate",
                    "requestBody": {"required": True, **_content("", "Asked")},
                    "responses": answers,
                }
            }
        },
        "components": {"schemas": schemas["$defs"]},
    }


def _content(description: str, model: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{model}"}
    content = {"application/json": {"schema": schema}}
    return {"description": description, "content": content}
