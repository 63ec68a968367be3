"""Texts about money, power and parts, for the terminal and for pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from lightloom.costs.amounts import Range

if TYPE_CHECKING:
    from lightloom.costs.costs import Costs

MISSING = "–"
_STEPS = ((10**9, "G"), (10**6, "M"), (10**3, "k"))
#: Smaller amounts are written in full, as everywhere in the report.
FULL = 100_000
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def sign(currency: str) -> str:
    """Returns the currency sign before an amount.

    >>> sign("USD"), sign("CHF")
    ('$', 'CHF ')
    """
    return _SIGNS.get(currency, f"{currency} ")


def amount(number: Fraction, unit: str = "") -> str:
    """Formats an amount with four digits; in full below 100,000, with a unit prefix from there on:
    `16.70 M`.

    >>> amount(Fraction(16_696_320)), amount(Fraction(110_600)), amount(Fraction(7, 2))
    ('16.70 M', '110.6 k', '3.5')
    """
    made = _formed(number, unit, 4)
    whole, space, step = made.partition(" ")
    short = whole.rstrip("0").rstrip(".") if "." in whole and step == unit else whole
    return f"{short}{space}{step}"


def digits(number: Fraction, unit: str = "") -> str:
    """Formats an amount with three digits, as on the decision page; with thousands separators below
    100,000, with a unit prefix from there on.

    >>> digits(Fraction(45_088, 10)), digits(Fraction(1, 3)), digits(Fraction(9, 8))
    ('4,510', '0.333', '1.13')
    >>> digits(Fraction(1310), "W"), digits(Fraction(99_960)), digits(Fraction(377_210_000))
    ('1,310 W', '100 k', '377 M')
    """
    return _formed(number, unit, 3)


def _formed(number: Fraction, unit: str, figures: int) -> str:
    """Formats with a number of significant digits; in full below 100,000, with a prefix from there
    on."""
    if not number:
        return f"0 {unit}".rstrip()
    rounded = Fraction(f"{float(number):.{figures - 1}e}")
    steps = [(s, f" {letter}{unit}") for s, letter in _STEPS if abs(rounded) >= max(s, FULL)]
    step, after = steps[0] if steps else (1, f" {unit}".rstrip())
    places = figures - 1 - math.floor(math.log10(abs(float(rounded / step))))
    places = min(places, 2) if step > 1 else places
    exact = Decimal(number.numerator) / Decimal(number.denominator) / step
    return f"{exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}{after}"


def ends(
    found: Range | None,
    unit: str = "",
    before: str = "",
    show: Callable[[Fraction, str], str] = amount,
) -> str:
    """Formats an interval as `$113.9 k – $222.6 k`, or as one amount if it is certain."""
    if found is None:
        return MISSING
    low, high = show(found.low, unit), show(found.high, unit)
    return f"{before}{low}" if low == high else f"{before}{low} – {before}{high}"


def span(found: Range, before: str = "", unit: str = "", to: str = " to ") -> str:
    """Formats both ends of an interval with three digits; as one amount if they read alike.

    >>> span(Range.of(450, 656), "$"), span(Range.of(3), unit="W")
    ('$450 to $656', '3.00 W')
    """
    low, high = digits(found.low, unit), digits(found.high, unit)
    if low.partition(" ")[2] == high.partition(" ")[2] == unit:  # one prefix: the unit once
        low = low.partition(" ")[0] if low != high else low
    return f"{before}{low}" if low == high else f"{before}{low}{to}{before}{high}"


def part(name: str) -> str:
    """Returns a part with its article: `a tunable transceiver`."""
    words = name.replace("-", " ")
    return f"{'an' if words[0] in 'aeio' else 'a'} {words}"


def fractions(found: Costs) -> Iterator[str]:
    """Explains fractions of boxes, if a bill has any."""
    parts = {line.part for c in found.fabrics.values() for line in c.lines if line.shared}
    if found.book.counting == "share" and parts:
        yield (
            f"fractions of {', '.join(sorted(parts))}: a share of a machine that others also use; "
            'counting = "whole" in a book of your own buys whole boxes'
        )


def left_out(found: Costs) -> Iterator[str]:
    """Lists the parts that the book's source leaves out, with its reason."""
    reasons: dict[str, list[str]] = {}
    for cost in found.fabrics.values():
        for name in cost.form.counts:
            part = found.book.part(name)
            if part is not None and part.excluded and name not in found.book.given:
                parts = reasons.setdefault(part.excluded, [])
                parts += [] if name in parts else [name]
    for reason, parts in reasons.items():
        yield f"left out: {', '.join(parts)} ({reason})"


def by_devices(found: Costs) -> Iterator[str]:
    """States where the devices of a fabric have other boxes than the book, and which of the two
    decides."""
    from lightloom.costs.bills import from_devices

    labels: dict[str, list[str]] = {}
    for label, cost in found.fabrics.items():
        parts = [line.part for line in cost.lines if from_devices.FROM in line.formula]
        for text in from_devices.differences(cost.network, found.book, parts):
            labels.setdefault(text, []).append(label)
    for text, of in labels.items():
        yield f"{', '.join(of)}: {text}"


def lasers(found: Costs) -> Iterator[str]:
    """States which fabrics' slower uplinks count as lanes of a transceiver with one tunable
    laser."""
    from lightloom.costs.lanes import together

    labels: dict[int, list[str]] = {}
    for label, cost in found.fabrics.items():
        labels.setdefault(together(cost), []).append(label)
    for number, of in labels.items():
        if number > 1:
            yield (
                f"{', '.join(of)}: {number} uplinks are one tunable transceiver of "
                f"{found.book.name} and share its laser, as in Sirius §4.5; a design in "
                "devices says how many do, and counts lasers"
            )


def narrow(found: Costs) -> Iterator[str]:
    """States which fabrics' circuits carry less than the servers of a rack send, so that the lower
    cost is that of a smaller network."""
    for label, cost in found.fabrics.items():
        network = cost.network
        if "channel_rate" not in network.fabric:
            continue
        share = int(network.fabric["uplinks"]) * network.rate("channel_rate") / network.rack_rate
        if share < 1:
            yield (
                f"{label}: its uplinks carry {float(share):.2g} of its servers' rate, and "
                "most bytes cross two of them: a smaller network, not a cheaper one; raise "
                "fabric.uplinks"
            )


def as_if(found: Costs) -> Iterator[str]:
    """States which bills have parts that the model of the fabric does not have."""
    rotors = [
        label
        for label, cost in found.fabrics.items()
        if cost.network.fabric.get("uplink_plan") == "rotor"
    ]
    if rotors:
        yield (
            f'{", ".join(rotors)}: uplink_plan = "rotor" is an ideal that no gratings provide; the '
            'bill counts gratings as if it had some. "wide" and "mixed" have gratings to be bought.'
        )


def tiers(found: Costs) -> Iterator[str]:
    """States which Clos has one tier more than its racks need, because it is oversubscribed above
    its pods."""
    from lightloom.costs.bills.electrical import layers_above, ports_of

    for label, cost in found.fabrics.items():
        table = cost.network.fabric
        if "oversubscription_at" not in table or "tiers" in table or cost.network.ratio() == 1:
            continue
        layers = {line.where for line in cost.lines if line.part == "switch"}
        ports = ports_of(found.book, "switch")
        if len(layers) - 1 > layers_above(cost.network.racks, ports):
            yield (
                f"{label}: {float(cost.network.ratio()):g}:1 between pods and core takes "
                f"{len(layers)} tiers of switches, where {len(layers) - 1} join all racks at 1:1; "
                'fabric.oversubscription_at = "rack" takes no more'
            )


def idle_tiers(found: Costs) -> Iterator[str]:
    """States which networks are billed without a tier, because it carries nothing."""
    from lightloom.costs.bills.electrical import IDLE, is_idle

    of = [
        label
        for label, cost in found.fabrics.items()
        if is_idle(cost.network) and cost.network.fabric.get("electrical", True)
    ]
    if of:
        yield (
            f"{', '.join(of)}: the tier above an oversubscription of {IDLE:,} is not billed, as it "
            "carries a thousandth of the servers' rate; a lower fabric.oversubscription has it"
        )


def simulated_otherwise(found: Costs) -> Iterator[str]:
    """States which Clos is simulated with pods and a core, and billed without them."""
    of = of_fewer_tiers(found)
    if of:
        yield (
            f"{', '.join(of)}: simulated with pods and a core, three tiers of switches, and billed "
            "with two, which join all racks; fabric.tiers = 2 or 3 makes both the same"
        )
    for label, (asked, billed) in of_more_tiers(found).items():
        yield (
            f"{label}: billed with {billed} tiers of switches instead of fabric.tiers = {asked}, "
            "as the switches of the prices have too few ports for so many racks"
        )


def of_more_tiers(found: Costs) -> dict[str, tuple[int, int]]:
    """Label → the tiers that a Clos asks for and the larger number that its bill has."""
    clos = {x: c for x, c in found.fabrics.items() if "tiers" in c.network.fabric}
    pairs = {
        label: (
            int(cost.network.fabric["tiers"]),
            len({line.where for line in cost.lines if line.part == "switch"}),
        )
        for label, cost in clos.items()
    }
    return {label: pair for label, pair in pairs.items() if pair[1] > pair[0]}


def of_fewer_tiers(found: Costs) -> list[str]:
    """The labels of fabrics that are billed with fewer tiers than they are simulated with."""
    from lightloom.costs.bills.electrical import is_idle

    return [
        label
        for label, cost in found.fabrics.items()
        if "oversubscription_at" in cost.network.fabric
        and "tiers" not in cost.network.fabric
        and not is_idle(cost.network)
        and cost.network.fabric.get("racks_per_pod") != cost.network.racks
        and {line.where for line in cost.lines if line.part == "switch"} <= {"racks", "layer 2"}
    ]
