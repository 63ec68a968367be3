"""Comparisons whose winner follows from arithmetic: fabrics × seeds × windows × unfinished jobs ×
shortened runs. The finding must name this winner, and none if there is none; the run that would
decide is part of the finding. Sentences are checked only where they must contain a number.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from statement_support import ahead, each, lead, values_of
from test_first import limits, made, plain
from test_report_support import Profile, circuits, make_comparison, overloaded

from lightloom import report
from lightloom.analysis import cuts, reading, table, verdicts
from lightloom.analysis.findings import (
    AloneCarries,
    DoneSooner,
    FinishesMore,
    NoneCarries,
    WindowTooShort,
    first_question,
)
from lightloom.analysis.findings.carriage import carriages
from lightloom.analysis.verdicts import First
from lightloom.analysis.verdicts.criteria import DELIVERED
from lightloom.analysis.verdicts.jobs import all_jobs
from lightloom.results.result import Comparison

Job = tuple[float, float | None]
"""Start and end of a job [s]."""


def first(comparison: Comparison) -> First:
    found = next(iter(report.first([comparison]).values()))
    assert found is not None
    return found


def with_jobs(jobs: dict[str, dict[str, Job]], delivered: dict[str, int] | None = None) -> Any:
    """Returns fabrics that run these jobs, without a load; by default all deliver the same number
    of bytes."""
    comparison = make_comparison([Profile(label) for label in jobs], n=50)
    for label, times in jobs.items():
        summary = comparison.results[label].summary
        summary |= {"load_offered": None, "load_delivered": None, "flows_completed": 50}
        summary["bytes_delivered"] = (delivered or {}).get(label, 1000)
        summary["jobs"] = {
            name: {
                "start_s": start,
                "finish_s": done,
                "seconds": None if done is None else done - start,
            }
            for name, (start, done) in times.items()
        }
    return comparison


# Jobs

ABC = {"a": (0.0, 2.0), "b": (0.0, 2.5), "c": (0.0, 3.0)}
ONLY_A = {"a": (0.0, 1.0), "b": (0.0, None), "c": (0.0, None)}


def test_the_fabric_that_finishes_all_jobs_is_ahead_of_one_that_finishes_one_sooner() -> None:
    """Regression: the text was "dark finishes a soonest"."""
    found = first(with_jobs({"full": ABC, "dark": ONLY_A}))
    assert found.finding == FinishesMore(("full",), {"full": (3, 3), "dark": (1, 3)})
    assert found.leaders == ("full",)
    assert "dark 1 of 3" in plain(found.answer)
    assert "run.limit" in found.answer


@pytest.mark.parametrize("count", [2, 3])
def test_who_finishes_jobs_follows_from_their_sets(count: int) -> None:
    """Brute force over the sets of three jobs that up to three fabrics finish: a fabric leads if
    and only if no other finishes a job that it does not finish."""
    subsets = [set(s) for n in range(4) for s in itertools.combinations("abc", n)]
    rng = np.random.default_rng(7)
    chosen = list(itertools.product(range(len(subsets)), repeat=count))
    for picked in rng.choice(len(chosen), size=24, replace=False):
        done = {f"f{i}": subsets[s] for i, s in enumerate(chosen[picked])}
        jobs = {
            label: {n: (0.0, 1.0 if n in own else None) for n in "abc"}
            for label, own in done.items()
        }
        comparison = with_jobs(jobs)
        finding = first_question(reading.read([comparison])[0])
        expected = tuple(x for x in done if all(done[x] >= other for other in done.values()))
        if len(set(map(frozenset, done.values()))) == 1:
            assert not isinstance(finding, FinishesMore)
        else:
            assert isinstance(finding, FinishesMore)
            assert finding.leaders == expected
            named = next(iter(report.first([comparison]).values()))
            assert named is not None
            assert set(named.leaders) <= set(expected)


def test_nothing_finished_is_judged_by_the_bytes_delivered() -> None:
    none = {"a": (0.0, None)}
    found = first(with_jobs({"x": none, "y": none}, {"x": 5000, "y": 4800}))
    assert found.leaders == ("x",)
    assert lead(found) == ahead("x", DELIVERED)


def test_concurrent_jobs_are_not_added_up() -> None:
    """Regression: 64 concurrent all-reduces of 84 ms each took "5.39 s in sum"."""
    jobs = {f"reduce-{i}": (0.0, 0.084) for i in range(64)}
    slow = dict.fromkeys(jobs, (0.0, 0.168))
    comparison = with_jobs({"fast": jobs, "slow": slow})
    fast, other = reading.read([comparison])[0].fabrics
    assert all_jobs(fast) == pytest.approx(0.084)
    assert all_jobs(other) == pytest.approx(0.168)
    found = first(comparison)
    assert found.leaders == ("fast",)
    assert "84.0 ms" in plain(found.answer)
    assert "in sum" not in found.answer


def test_jobs_in_sequence_take_the_time_from_the_first_to_the_last() -> None:
    jobs = {"a": (0.0, 2.0), "b": (2.0, 5.0)}
    (fabric, _) = reading.read([with_jobs({"x": jobs, "y": jobs})])[0].fabrics
    assert all_jobs(fabric) == 5.0
    (card,) = [
        v
        for v in verdicts.verdicts(reading.read([with_jobs({"x": jobs, "y": jobs})])[0])
        if "jobs" in v.question
    ]
    assert plain(card.evidence[0].detail).split(", ") == ["a 2.00 s", "b 3.00 s"]


# Traffic without a load


def unloaded(
    done: dict[str, tuple[int, int]], p99_us: dict[str, float] | None = None
) -> Comparison:
    """Returns a comparison with flows that arrive at once: by fabric, the finished flows and the
    delivered bytes, of 1,000."""
    times = p99_us or dict.fromkeys(done, 10.0)
    comparison = made({label: limits(times[label]) for label in done})
    for label, (flows, size) in done.items():
        comparison.results[label].summary |= {
            "load_offered": None,
            "load_delivered": None,
            "flows_offered": 1000,
            "flows_completed": flows,
            "bytes_delivered": size,
        }
    return comparison


def test_few_quick_flows_do_not_carry_the_traffic() -> None:
    """Regression: a tree with 5.5 % of its flows finished "carries this traffic at the lowest
    capital cost"."""
    found = first(unloaded({"clos": (1000, 10**6), "tree": (55, 10**4)}, {"clos": 10, "tree": 1}))
    assert found.finding == AloneCarries("clos", {"tree": 0.01}, "traffic", ("tree",))
    assert found.leaders == ("clos",)


def test_a_load_that_is_delivered_later_is_not_called_undelivered() -> None:
    """All bytes were delivered in the end, but 59 % while flows arrived: the load is not
    carried."""
    comparison = made({"clos": limits(10.0), "tree": limits(5.0)})
    for label, share in (("clos", 0.49), ("tree", 0.29)):
        comparison.results[label].summary |= {"load_offered": 0.5, "load_delivered": share}
    found = first(overloaded(comparison, "tree"))
    assert isinstance(found.finding, AloneCarries)
    assert found.finding.basis == "load"
    assert found.finding.leader == "clos"


@pytest.mark.parametrize(("flows", "carries"), [(1000, True), (901, True), (899, False)])
def test_nine_tenths_of_the_flows_carry_it(flows: int, *, carries: bool) -> None:
    finding = first_question(
        reading.read([unloaded({"clos": (1000, 10**6), "tree": (flows, 10**6)})])[0]
    )
    assert isinstance(finding, DoneSooner if carries else AloneCarries)


# Windows

Seen = tuple[float, float, bool]
"""Accepted share of a window, due share, and whether it was stable."""


def windowed(
    seen: dict[str, list[Seen]],
    p99_us: dict[str, float],
    *,
    warm_up_s: float = 5e-3,
    measure_s: float = 10e-3,
    largest: float = 1e6,
) -> Comparison:
    """Returns fabrics with these windows at load 0.5, one per seed."""
    seeds = []
    for i in range(len(next(iter(seen.values())))):
        sizes = np.array([5e3] * 400 + [largest])
        one = make_comparison([Profile(label) for label in seen], sizes=sizes)
        for label, values in seen.items():
            accepted, due, stable = values[i]
            p99 = p99_us[label]
            bound = {"flows": 300, "unfinished": 0, "p99_us": limits(p99), "p50_us": limits(1.0)}
            one.results[label].summary["largest_alone_s"] = largest * 8 / (24 * 16.666666667e9)
            one.results[label].summary["window"] = {
                "from_s": warm_up_s,
                "until_s": warm_up_s + measure_s,
                "flows": 400,
                "accepted": accepted,
                "accepted_half_width": 0.001,
                "offered": due,
                "paced": due,
                "stable": stable,
                "mean_us": p99 / 2,
                "half_width_us": 0.01,
                "p99_us": p99,
                "short": {"p99_us": p99},
                "bound": {
                    "p99_us": limits(p99),
                    "mean_us": limits(p99 / 2),
                    "short": bound,
                },
            }
        seeds.append(one)
    return replace(seeds[0], seeds=seeds) if len(seeds) > 1 else seeds[0]


P99 = {"sirius": 2160.0, "clos": 112.0}
CARRIED: Seen = (0.4656, 0.4690, True)
MISSED: Seen = (0.4635, 0.4790, False)
HALF: Seen = (0.25, 0.48, False)


def test_one_seed_of_three_does_not_deny_a_load() -> None:
    """Regression: Sirius at 2.16 ms was preferred to a Clos network at 112 µs, because one seed of
    the Clos network was unstable."""
    comparison = windowed(
        {"sirius": [CARRIED] * 3, "clos": [CARRIED, MISSED, CARRIED]}, P99, largest=10e6
    )
    found = first(comparison)
    assert isinstance(found.finding, WindowTooShort)
    assert found.finding.unsettled == ("clos",)
    assert found.leaders == ()
    assert found.finding.needs_measure_s == pytest.approx(20e-3)  # twice the window
    assert "sirius completes" not in found.title
    for card in verdicts.verdicts(reading.read([comparison])[0]):
        if "short flows" in card.question:
            assert "too short to tell" in card.answer


CASES = {
    # Windows of sirius and clos, the leading fabric, and the kind of lead.
    "both carry it: times decide": ([CARRIED] * 3, [CARRIED] * 3, ("clos",), DoneSooner),
    "the slower one is in doubt: it is slower all the same": (
        [CARRIED, MISSED, CARRIED],
        [CARRIED] * 3,
        ("clos",),
        DoneSooner,
    ),
    "all seeds deny it, but it accepted as much as one that carries it": (
        [CARRIED] * 3,
        [MISSED] * 3,
        (),
        WindowTooShort,
    ),
    "it accepted half, with every seed": ([CARRIED] * 3, [HALF] * 3, ("sirius",), AloneCarries),
    "it accepted half, with one seed": ([CARRIED], [HALF], ("sirius",), AloneCarries),
    "one seed, as much accepted": ([CARRIED], [MISSED], (), WindowTooShort),
    "neither carries it": ([HALF] * 3, [HALF] * 3, (), NoneCarries),
}


@pytest.mark.parametrize("name", CASES)
def test_windows_name_the_right_winner(name: str) -> None:
    sirius, clos, leaders, kind = CASES[name]
    found = first(windowed({"sirius": sirius, "clos": clos}, P99))
    assert type(found.finding) is kind
    assert found.leaders == leaders


def test_a_winner_that_is_slower_than_one_that_is_not_ranked_is_not_called_soonest() -> None:
    found = first(windowed({"sirius": [CARRIED] * 3, "clos": [HALF] * 3}, P99))
    assert found.finding == AloneCarries("sirius", {"clos": None}, "window", ("clos",))
    assert "soonest" not in found.title
    assert "clos" in found.answer


def test_a_warm_up_shorter_than_the_largest_flow_denies_no_load() -> None:
    """100 MB take 48 ms at 16.67 Gb/s, and 2 ms at the rack's 400 Gb/s; the warm-up is 1 ms."""
    windows = {"a": [MISSED] * 3, "b": [MISSED] * 3}
    p99 = {"a": 10.0, "b": 20.0}
    found = first(windowed(windows, p99, warm_up_s=1e-3, largest=100e6))
    assert isinstance(found.finding, WindowTooShort)
    assert found.finding.largest_s == pytest.approx(100e6 * 8 / (24 * 16.666666667e9))
    assert found.finding.needs_warm_up_s >= found.finding.largest_s
    longer = first(windowed(windows, p99, warm_up_s=3e-3, largest=100e6))
    assert isinstance(longer.finding, NoneCarries)


def relaxing(comparison: Comparison, seconds: float | None) -> Comparison:
    """Returns the comparison with this relaxation time of the slowest queue in all summaries."""
    for one in comparison.seeds or (comparison,):
        for result in one.results.values():
            result.summary["relaxation_s"] = seconds
    return comparison


SOME: Seen = (0.40, 0.5, False)


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize(
    ("seen", "relaxation_s", "kind"),
    [
        # The window has 10 ms: a third of a relaxation time, three relaxation times, and an unknown
        # one.
        (SOME, 0.03, WindowTooShort),
        (SOME, 0.003, NoneCarries),
        (SOME, None, NoneCarries),
        # No window of a network that carries the load accepts so little.
        (HALF, 0.03, NoneCarries),
    ],
)
def test_a_window_within_a_relaxation_time_denies_no_load(
    seen: Seen, relaxation_s: float | None, kind: type, seeds: int
) -> None:
    """Regression: two non-blocking networks accepted four fifths of the due bytes within 5 ms, and
    the text was "no fabric carries this load"."""
    # A single flow of 10 MB takes 0.2 ms: a fifth of 10 ms can be missing by chance.
    both = {"a": [seen] * seeds, "b": [seen] * seeds}
    made = windowed(both, {"a": 10.0, "b": 20.0}, largest=10e6)
    found = first(relaxing(made, relaxation_s))
    assert type(found.finding) is kind
    if isinstance(found.finding, WindowTooShort):
        # Window in which the growth of queues that miss a fifth is visible: s ÷ ρ × (1.5 ÷ 0.2)².
        seen_s = 10e6 * 8 / (24 * 16.666666667e9) / 0.5 * (1.5 / 0.2) ** 2
        assert found.finding.needs_measure_s == pytest.approx(seen_s)


def test_pooled_seeds_deny_a_load_that_one_seed_grants() -> None:
    """With 48, 47, 46 and 40 % missing, half of the Student interval of 4 values is 5.7 %, far from
    2 %."""
    missed = [(0.26, 0.5, False), (0.265, 0.5, False), (0.27, 0.5, False), (0.3, 0.5, True)]
    window = {"from_s": 1.0}
    seeds = [{**window, "accepted": a, "paced": p, "stable": s} for a, p, s in missed]
    fine = [{**window, "accepted": 0.5, "paced": 0.5, "stable": True}] * 4
    assert carriages([seeds, fine]) == ["short", "carried"]
    # With 40 and 2 % missing, half of the interval of 2 seeds is 12.7 × 19 %, and extends below 0.
    apart = [seeds[3] | {"stable": False}, {**window, "accepted": 0.49, "paced": 0.5, "stable": 1}]
    assert carriages([apart, fine[2:]]) == ["unsettled", "carried"]


# Dark starts


@pytest.mark.parametrize(("lit_ms", "named"), [(100, True), (10, True), (9, False)])
def test_a_dark_start_of_more_than_a_twentieth_is_named(lit_ms: int, *, named: bool) -> None:
    """100 of 190 ms of a job passed before the first circuit was lit."""
    comparison = with_jobs({"ocs": {"a": (0.0, 0.19)}, "clos": {"a": (0.0, 0.09)}})
    comparison.results["ocs"].summary["simulated_s"] = 0.19
    ms = 10**9
    comparison.results["ocs"].circuits = circuits([(0, 1, lit_ms * ms, 190 * ms)])
    starts = [x.label for one in each(first(comparison).said, "dark start") for x in one["starts"]]
    assert starts == (["ocs"] if named else [])


# Runs cut by a limit


def test_a_cut_run_says_how_many_flows_it_left_out() -> None:
    """Regression: with 1,000 flows of 100 MB the output was "1,000 flows", and the values of
    five."""
    comparison = made({"a": limits(10.0), "b": limits(20.0)})
    cut = {"limit_s": 10.0, "flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}
    comparison.results["b"].summary["cut"] = cut
    (found,) = values_of(first(comparison).said, "runs that ended early")["runs"]
    assert (found.label, found.limit_s, found.still_since_s) == ("b", 10.0, None)
    assert (found.flows, found.never_offered, found.unfinished) == (1000, 985, 10)


def test_a_run_that_stood_still_is_not_told_to_raise_its_limit() -> None:
    comparison = made({"a": limits(10.0), "b": limits(20.0)})
    cut = {"limit_s": 10.1, "still_since_s": 0.1, "flows": 9, "flows_never_offered": 6}
    comparison.results["b"].summary["cut"] = {**cut, "flows_unfinished": 3}
    answer = plain(first(comparison).answer)
    assert "run.limit" not in answer
    (found,) = values_of(first(comparison).said, "runs that ended early")["runs"]
    assert (found.label, found.still_since_s) == ("b", 0.1)
    noted = cuts.note([comparison.results["b"].summary])
    assert noted is not None
    assert (noted.kind, noted.values["since_s"]) == ("stood still", 0.1)
    assert "run.limit" not in str(noted)


# Queues at different places


@pytest.mark.parametrize(
    ("places", "compared"),
    [(("relay", "relay"), True), (("relay", "port"), False), (("port", "port"), True)],
)
def test_queues_are_compared_at_the_same_place_alone(
    places: tuple[str, str], compared: bool
) -> None:
    """Regression: Sirius' relays "queued least, 5.2 times less than" one port of a Clos network."""
    comparison = made({"a": limits(10.0), "b": limits(20.0)})
    for result, place, peak in zip(
        comparison.results.values(), places, (1_000, 5_000), strict=True
    ):
        result.summary.update(queue_peak_bytes=peak, queue_place=place)
    (workload,) = reading.read([comparison])
    assert len(verdicts.criteria.QUEUE.scores(workload.fabrics)) == (2 if compared else 0)
    rows = [row for _, group in table.groups(workload) for row in group]
    queue = next(row for row in rows if row.name.startswith("Queue peak"))
    assert (queue.better is not None) is compared
    answer = verdicts.network.memory(workload.fabrics).answer
    assert ("not compared" in answer) is not compared
