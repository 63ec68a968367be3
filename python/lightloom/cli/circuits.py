"""`circuits`: the client of the controller."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from lightloom.cli import console
from lightloom.errors import refusal
from lightloom.units.formats import percent, seconds

commands = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Switch = Annotated[str, typer.Argument(metavar="SWITCH")]
Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="The controller (default: LIGHTLOOM_CONTROLLER, or 127.0.0.1:8400)."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Key = Annotated[
    str | None, typer.Option(metavar="KEY", help="Requests with the same key are carried out once.")
]
DARK = 1
"""Exit code if a change was undone or is stuck, or a circuit is dark or without traffic."""


@commands.callback()
def circuits() -> None:
    """Read and change circuits by the controller (token: LIGHTLOOM_CONTROLLER_TOKEN)."""


@commands.command()
def get(url: Url = None, json: Json = False) -> None:
    """Print circuits, leases and alarms."""
    with console.guarded():
        state = _client(url).state()
        if json:
            return console.print_json(state)
        _print_role(state)
        for one in state["switches"]:
            wanted = {c["name"] for c in one["wanted"]}
            is_read = one["read_at"] is not None
            lit = f"{len(one['lit'])} lit" if is_read else "not read yet"
            console.say(f"{one['name']}: {lit}, {len(wanted)} wanted")
            # The first owner is the one in effect.
            owners = {c["name"]: c["owner"] for c in reversed(one["wanted"])}
            for c in one["lit"]:
                console.say(f"  {c['name']}  {c['racks'] or ''}  {owners.get(c['name'], '-')}")
            dark = {c["name"] for c in one["dark"]}
            for c in one["dark"]:
                owner = owners.get(c["name"], "-")
                console.say(f"  {c['name']}  {c['racks'] or ''}  {owner}: connected, no light")
            for c in one["wanted"]:
                if not c["lit"] and c["name"] not in dark:
                    state_of = ": not lit" if is_read else ""
                    console.say(f"  {c['name']}  {c['racks'] or ''}  {c['owner']}{state_of}")
            if one["dark_limit_s"] is not None:
                spent = f"{one['dark_spent_s']:.3g} of {one['dark_limit_s']:g} s"
                console.say(f"  dark time of the policy's changes in the last hour: {spent}")
            plan = [c["name"] for c in one["advice"] or []]
            if {*plan} - {c["name"] for c in one["lit"]}:
                console.say(f"  policy plans: {', '.join(plan)}")
            if one["held_back"]:
                console.say(f"  policy held back: {one['held_back']}")
        for lease in state["leases"]:
            racks = " – ".join(lease["racks"])
            times = f"from {_time(lease['begins'])} until {_time(lease['ends'])}"
            text = f"lease {lease['id']} of {lease['switch']}: {racks} for {lease['owner']}"
            console.say(f"{text} {times}")
        for one in state["deferred"]:
            _print_deferred(one)
        for job in state["jobs"]:
            console.say(_job_text(job))
        for alarm in state["alarms"]:
            console.say(f"alarm: {alarm['switch']}: {alarm['kind']}: {alarm['text']}")
    return None


@commands.command()
def diff(switch: Switch, url: Url = None, json: Json = False) -> None:
    """Print the changes that the present requests need, without the policy's next plan."""
    with console.guarded():
        found = _client(url).diff(switch)
        if json:
            return console.print_json(found)
        _print_change(found)
    return None


@commands.command()
def apply(
    switch: Switch,
    circuit: Annotated[
        list[str] | None,
        typer.Option(metavar="RACK:RACK", help="Connect two racks. Repeat for more."),
    ] = None,
    cross_connect: Annotated[
        list[str] | None,
        typer.Option(metavar="1A-29B", help="Add a cross-connect. Repeat for more."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Request all circuits of a plan or a list.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Request no circuits.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the change.")] = False,
    when: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help='Start of the change: now, "at checkpoint", or a time, such as 2026-11-28T22:00Z.',
        ),
    ] = "now",
    priority: Annotated[int, typer.Option(help="0 to 100; a higher one has precedence.")] = 0,
    key: Key = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Set all circuits that this operator requests on a switch, and change the switch."""
    with console.guarded():
        names, begins = _wanted(circuit, cross_connect, plan, none), _when(when)
        keys = {"dry_run": dry_run, "when": begins, "key": key, "priority": priority}
        found = _client(url).apply(switch, **names, **keys)
        if json:
            console.print_json(found)
        elif dry_run:
            _print_change(found)
            _print_forecast(found)
        elif found["deferred"] is not None:
            _print_deferred(found["deferred"])
        else:
            _print_made(found["transactions"])
            for text in found["diff"]["conflicts"]:
                console.say(f"not lit: {text}")
            if dark := found.get("dark"):
                console.say(f"dark: {' '.join(dark)}")
    # The stored answer to a key may come from a release that did not list dark circuits.
    if not dry_run and (found.get("dark") or not all(map(_is_whole, found["transactions"]))):
        raise typer.Exit(DARK)


@commands.command()
def watch(url: Url = None) -> None:
    """Print one line per change until it is interrupted."""
    with console.guarded():
        printed = ""
        for state in _client(url).watch():
            lit = ", ".join(f"{one['name']} {len(one['lit'])} lit" for one in state["switches"])
            last = state["transactions"][:1]
            said = f"; transaction {last[0]['id']} {last[0]['state']}" if last else ""
            line = f"{state['role']}: {lit}{said}; {len(state['alarms'])} alarms"
            if line != printed:
                console.say(printed := line)
        limit = "the controller closed the connection"
        raise refusal("watch", url or "(default)", limit, "start it again, or ask another one")


@commands.command()
def reserve(
    switch: Switch,
    a: Annotated[str, typer.Argument(metavar="RACK")],
    b: Annotated[str, typer.Argument(metavar="RACK")],
    length: Annotated[str, typer.Option("--for", metavar="TIME", help="Duration, such as 2 h.")],
    after: Annotated[
        str | None, typer.Option("--in", metavar="TIME", help="Time until it begins.")
    ] = None,
    priority: Annotated[int, typer.Option(help="0 to 100; a higher one has precedence.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the change.")] = False,
    key: Key = None,
    url: Url = None,
) -> None:
    """Reserve a circuit between two racks."""
    with console.guarded():
        begins, ends = _span(length, after)
        made = _client(url).reserve(switch, (a, b), ends, begins, priority, key, dry_run)
        if dry_run:
            _print_change(made)
            _print_forecast(made)
        else:
            console.say(f"lease {made['id']}: {a} – {b} for {made['owner']}")


@commands.command()
def release(
    lease: Annotated[int, typer.Argument(metavar="LEASE")],
    url: Url = None,
) -> None:
    """End a lease."""
    with console.guarded():
        _client(url).release(lease)


@commands.command()
def withdraw(
    change: Annotated[int, typer.Argument(metavar="CHANGE")],
    url: Url = None,
) -> None:
    """Withdraw a deferred change."""
    with console.guarded():
        _client(url).withdraw(change)


@commands.command()
def job(
    name: Annotated[str, typer.Argument(metavar="JOB")],
    rack: Annotated[
        list[str] | None,
        typer.Option(metavar="RACK", help="Rack on which the job runs. Repeat for more."),
    ] = None,
    accelerators: Annotated[
        int | None, typer.Option(metavar="N", help="Number of its accelerators.")
    ] = None,
    length: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TIME",
            help="Time after which it has ended, unless it is announced again.",
        ),
    ] = None,
    end: Annotated[bool, typer.Option("--end", help="Announce that the job has ended.")] = False,
    url: Url = None,
) -> None:
    """Announce a job, which stops if one of its racks loses a circuit."""
    with console.guarded():
        if end:
            _client(url).end_job(name)
            return
        if not rack:
            limit = "a job runs on racks"
            raise refusal("--rack", "(missing)", limit, "name them, or write --end")
        until = None if length is None else _span(length, None)[1]
        console.say(_job_text(_client(url).announce_job(name, rack, accelerators, until)))


@commands.command()
def checkpoint(
    job: Annotated[str, typer.Argument(metavar="JOB")],
    length: Annotated[str, typer.Option("--for", metavar="TIME", help="Duration, such as 5 min.")],
    after: Annotated[
        str | None, typer.Option("--in", metavar="TIME", help="Time until it begins.")
    ] = None,
    url: Url = None,
) -> None:
    """Announce a checkpoint of a job, at which changes may interrupt it."""
    with console.guarded():
        begins, ends = _span(length, after)
        console.say(_job_text(_client(url).announce_boundary(job, ends, begins)))


@commands.command()
def history(
    switch: Annotated[str | None, typer.Argument(metavar="[SWITCH]")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    url: Url = None,
    json: Json = False,
) -> None:
    """Print the last transactions."""
    with console.guarded():
        found = _client(url).history(switch, limit)
        if json:
            return console.print_json(found)
        _print_made(found)
    return None


@commands.command()
def undo(
    transaction: Annotated[int, typer.Argument(metavar="TRANSACTION")],
    key: Key = None,
    url: Url = None,
) -> None:
    """Restore the state of a switch before a transaction."""
    with console.guarded():
        made = _client(url).undo(transaction, key)
        if made:
            _print_made(made)
        else:
            console.say("no circuit changed; requests for what the transaction added are withdrawn")
    if not all(map(_is_whole, made)):
        raise typer.Exit(DARK)


def _span(length: str, after: str | None) -> tuple[float, float]:
    from lightloom.units.durations import duration_ps

    begins = time.time() + (0.0 if after is None else duration_ps("--in", after) / 1e12)
    return begins, begins + duration_ps("--for", length) / 1e12


def _client(url: str | None) -> Any:
    from lightloom.controller.client import Client

    return Client(url)


def _wanted(
    circuit: list[str] | None, cross_connect: list[str] | None, plan: Path | None, none: bool
) -> dict[str, Any]:
    given = sum(given is not None for given in (circuit, cross_connect, plan)) + none
    if given > 1:
        limit = "--circuit, --cross-connect, --plan and --none are not combined"
        raise refusal("options", "several", limit, "give one of them")
    if not given:
        # For example a variable of a script that is empty.
        limit = "all circuits that this operator requests would be removed"
        raise refusal("--circuit", "(missing)", limit, "name circuits, or write --none")
    if circuit is not None:
        pairs = [tuple(text.split(":", 1)) for text in circuit]
        for text, pair in zip(circuit, pairs, strict=True):
            if len(pair) != 2:
                raise refusal("--circuit", text, "not two racks", "write gpu-0:gpu-1")
        return {"circuits": pairs}
    if plan is not None:
        from lightloom.switches.ports import name_of
        from lightloom.switches.stored import read_wanted

        return {"cross_connects": [name_of(pair) for pair in read_wanted(plan)]}
    return {"cross_connects": cross_connect or []}


def _print_role(found: dict[str, Any]) -> None:
    if found["role"] == "standby":
        active = found.get("active", "another one")
        said = "no controller is active" if active is None else f"{active} is active"
        console.say(f"a standby answers with its last reading of the switches; {said}")


def _print_change(found: dict[str, Any]) -> None:
    _print_role(found)
    if found.get("trouble") is not None:
        at = "it was never read" if found["read_at"] is None else _time(found["read_at"])
        console.say(f"the switch does not answer ({found['trouble']}); last reading: {at}")
    for name in ("removed", "added", "kept", "unowned"):
        if found[name]:
            console.say(f"{name:9}{' '.join(found[name])}")
    for text in found["conflicts"]:
        console.say(f"not lit: {text}")
    if not found["removed"] and not found["added"]:
        console.say("nothing would change")
    else:
        _print_cost(found)


def _print_cost(found: dict[str, Any]) -> None:
    if found["dark_pair_s"] is not None:
        console.say(f"dark for {found['dark_s']:.3g} s, {found['dark_pair_s']:.3g} pair-seconds")
    if not found["jobs"]:
        return
    running = found["waits_for"]
    if not running:
        console.say(f"at a checkpoint: {', '.join(found['jobs'])}; no accelerator waits")
    elif found["accelerator_h"] is not None:
        hours = f"{found['accelerator_h']:.4g} accelerator-hours"
        console.say(f"stops {', '.join(running)}: {hours} now, 0 at a checkpoint")
    else:
        console.say(f"stops {', '.join(running)}: accelerator-hours are not known")


def _print_forecast(found: dict[str, Any]) -> None:
    seen = found["forecast"]
    if seen is None:
        console.say(f"not simulated: {found['no_forecast']}")
        return
    console.say(f"simulation of the next {seconds(seen['interval_s'])}:")
    for name, one in (("as it is", seen["now"]), ("changed", seen["changed"])):
        delivered, on_circuits = percent(one["delivered"]), percent(one["on_circuits"])
        console.say(f"  {name:9}{delivered} of the demand delivered, {on_circuits} on circuits")


def _print_deferred(one: dict[str, Any]) -> None:
    when = one["when"] if isinstance(one["when"], str) else f"at {_time(one['when'])}"
    names = " ".join(f"{a}A-{b}B" for a, b in one["pairs"]) or "no circuits"
    why = f": {one['why']}" if one.get("why") else ""
    text = f"change {one['id']} of {one['switch']} for {one['who']}: {names}; waits, {when}{why}"
    console.say(text)


def _job_text(job: dict[str, Any]) -> str:
    size = "" if job["accelerators"] is None else f", {job['accelerators']} accelerators"
    still = ""
    if job["begins"] is not None:
        still = f", at a checkpoint from {_time(job['begins'])} to {_time(job['ends'])}"
    end = "" if job["until"] is None else f", until {_time(job['until'])}"
    return f"job {job['name']}: {' '.join(job['racks'])}{size}{still}{end}"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _when(text: str) -> str | float:
    if text in ("now", "at checkpoint"):
        return text
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        limit = "not a time"
        raise refusal("--when", text, limit, 'write now, "at checkpoint", or a time') from None
    if found.tzinfo is None:
        limit = "the zone is missing"
        raise refusal("--when", text, limit, f"write {text}Z for UTC, or {text}+01:00")
    return found.timestamp()


def _is_whole(made: dict[str, Any]) -> bool:
    return made["state"] == "done" and not made["reason"]


def _print_made(made: list[dict[str, Any]]) -> None:
    if not made:
        console.say("nothing changed")
    for one in made:
        counts = f"{len(one['plan']['removed'])} removed, {len(one['plan']['added'])} added"
        took = (one["updated"] - one["created"]) * 1e3
        reason = f": {one['reason']}" if one["reason"] else ""
        text = f"transaction {one['id']} of {one['switch']} for {one['who']}: {one['state']}"
        costs = _costs(one["plan"].get("cost"))
        console.say(f"{text}, {counts}, {_time(one['created'])}, {took:.0f} ms{costs}{reason}")


def _costs(cost: dict[str, Any] | None) -> str:
    """The planned costs of a transaction; empty if none is known."""
    if cost is None or cost["dark_pair_s"] is None:
        return ""
    text = f", dark for {cost['dark_s']:.3g} s, {cost['dark_pair_s']:.3g} pair-seconds"
    hours = cost["accelerator_h"]
    return f"{text}, {hours:.4g} accelerator-hours" if hours else text
