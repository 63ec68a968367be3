"""The JSON Schema of the experiment file: tables of the core, and tables that only Python reads."""

from __future__ import annotations

import functools
import json
from typing import Any

from lightloom import _core
from lightloom.config.own_tables import DECISION, TESTBED

Table = dict[str, Any]

#: The definition of `[decision]` in the schema.
_NAME = "Decision"


@functools.cache
def names() -> tuple[str, ...]:
    """The keys at the top level of an experiment."""
    return (*json.loads(_core.schema())["properties"], DECISION, TESTBED)


def schema() -> Table:
    """Returns the JSON Schema (draft 2020-12) of an experiment."""
    made: Table = json.loads(_core.schema())
    made["properties"][DECISION] = {"$ref": f"#/$defs/{_NAME}"}
    made["$defs"][_NAME] = json.loads(_decision())
    own = json.loads(_testbed())
    made["$defs"].update(own.pop("$defs", {}))
    made["properties"][TESTBED] = {"$ref": f"#/$defs/{own['title']}"}
    made["$defs"][own["title"]] = own
    return made


@functools.cache
def _decision() -> str:
    from lightloom.config.decision import Options  # loaded where it is asked for: it is slow to

    return json.dumps({**Options.model_json_schema(), "title": _NAME})


@functools.cache
def _testbed() -> str:
    from lightloom.config.testbed import Table  # as above

    return json.dumps({**Table.model_json_schema(), "title": "Testbed"})
