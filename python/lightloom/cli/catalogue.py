"""`fabrics`, `policies`, `workloads` and `schema`: lists of the existing kinds.

All texts are the doc comments of the configuration types, read from their JSON Schema, so that
nothing is described twice.
"""

from __future__ import annotations

from lightloom.cli import console
from lightloom.cli.explain import paragraph, print_policies
from lightloom.cli.topics import jobs_of, published
from lightloom.config import schema as experiment_schema
from lightloom.config.fabrics import registry
from lightloom.config.refusal_text import PLANNED
from lightloom.units import formats


def fabrics() -> None:
    """List the fabrics and their presets."""
    for entry in registry().values():
        paragraph(f"{entry['kind']}: {entry['title']}", style="bold")
        paragraph(entry["source"], indent=2)
        for preset in entry["presets"]:
            paragraph(f"preset {preset['name']}: {preset['summary']}", indent=2)
    for kind, about in PLANNED.items():
        paragraph(f"{kind}: planned, not here yet: {about}")
    console.say("\nlightloom explain KIND prints details.")


def policies() -> None:
    """List the policies that choose circuits."""
    print_policies()


def workloads() -> None:
    """List the published flow-size distributions and the jobs."""
    table = console.plain_table()
    table.add_column("sizes")
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    for entry in published().values():
        table.add_row(entry["name"], formats.size(entry["mean_linear_bytes"]), entry["source"])
    console.out().print(table)
    jobs = console.plain_table()
    jobs.add_column("jobs")
    jobs.add_column("what they do", overflow="fold")
    for kind, job in jobs_of().items():
        jobs.add_row(kind, job.description)
    console.say("")
    console.out().print(jobs)
    console.say("\nlightloom explain NAME prints details.")


def schema() -> None:
    """Print the JSON Schema of experiment files."""
    console.print_json(experiment_schema.schema())
