"""Makes the gallery of the documentation: each example with its command, its figure and an
explanation.

MkDocs calls `on_files` (`hooks` in mkdocs.yml). Examples are run when the page is built, on the
building machine; their figures are stored in `.make/gallery` until an example or Lightloom changes.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".make" / "gallery"


@dataclass(frozen=True)
class Shown:
    """An example of the gallery."""

    title: str
    command: str
    """The command as a user types it in a checkout; it compares, plans, or computes costs."""
    picture: str
    """The figure of the report; for a plan or for prices, the name of the image."""
    see: str
    """The explanation of the figure."""

    @property
    def name(self) -> str:
        """The name of its image: that of the example."""
        return next(Path(word).stem for word in shlex.split(self.command) if "examples/" in word)


GALLERY = (
    Shown(
        "Sirius and Clos on the paper's workload",
        "lightloom compare examples/demo-paper.toml",
        "fct-distribution",
        "How far Sirius' curve lies right of the Clos': what a schedule, and a request before "
        "each cell, cost a short flow. With ideal congestion control most of the distance is gone.",
    ),
    Shown(
        "The same networks on web search",
        "lightloom compare examples/demo-web-search.toml",
        "fct-by-size",
        "Small flows pay for the request and the slots, large ones do not: the curves meet "
        "towards 1 MB.",
    ),
    Shown(
        "One Sirius",
        "lightloom compare examples/sirius.toml",
        "traffic",
        "Links are busier than goodput tells: most cells cross two gratings, for which there are "
        "more uplinks than a rack's rate needs.",
    ),
    Shown(
        "A Clos with and without oversubscription",
        "lightloom compare examples/clos.toml",
        "queues",
        "What an oversubscribed core piles up, several times as much as a non-blocking one.",
    ),
    Shown(
        "The same under realistic physics",
        "lightloom compare examples/realistic.toml",
        "fct-distribution",
        "Fibre, switches and error correction delay each fabric alike: what their papers leave "
        "out moves the curves of short flows.",
    ),
    Shown(
        "Incasts amid background traffic",
        "lightloom compare examples/mix.toml",
        "fct-distribution",
        "Two parts of one workload: the answers of 32 servers at once are most of the flows, and "
        "wait for each other at their receiver.",
    ),
    Shown(
        "Flows of your own",
        "lightloom compare examples/trace.toml",
        "fct-distribution",
        "A trace of a dozen lines is a distribution of as many steps.",
    ),
    Shown(
        "Failures",
        "lightloom compare examples/failures.toml",
        "traffic",
        "Of 128 nodes the one that fails is not seen in the goodput: its peers find out and go "
        "on without it. What was lost until then is `drops` in summary.json.",
    ),
    Shown(
        "Slots that follow from devices",
        "lightloom compare examples/devices.toml",
        "fct-by-size",
        "A laser that tunes for 92 ns needs slots of 948 ns, in which short flows wait; a bank "
        "of lasers hides it. [Devices](devices.md) give slot, guardband, cell and error rate.",
    ),
    Shown(
        "One part dead",
        "lightloom compare examples/worst-failure.toml --worst-failure",
        "fct-by-size",
        "The picture is of sound networks. [With one part dead](failures.md), the table below "
        "the verdict says, an aggregation switch costs the Clos more than any grating costs "
        "Sirius.",
    ),
    Shown(
        "Collectives",
        "lightloom compare examples/collectives.toml",
        "jobs",
        "The ring seldom leaves a rack, so that oversubscription costs it little; halving and "
        "doubling, and the all-to-all, cross the core.",
    ),
    Shown(
        "Mirrors between racks of accelerators",
        "lightloom compare examples/ai-cluster.toml",
        "jobs",
        "A ring of accelerators leaves racks at their edges only: 4:1 costs it nothing, mirrors "
        "little more than the wait for their first circuits. [What each costs](cost.md) decides.",
    ),
    Shown(
        "Which fabric to buy",
        "lightloom compare examples/decision.toml",
        "decision",
        "Each fabric at what a bit that arrives costs and draws; ★ is on the Pareto front. "
        "[The decision page](decision.md) says which price would make another the one to buy.",
    ),
    Shown(
        "What 4,000 racks cost",
        "lightloom cost examples/datacenter-4000-racks.toml",
        "tornado",
        "Which price decides what each network costs; hatched where the source gives one number, "
        "which is varied by a quarter. The table has each [reading](cost.md#sirius-fig-6), too.",
    ),
    Shown(
        "HydRA against a fat tree, part by part",
        "lightloom cost examples/hydra-cost.toml --bill all",
        "tornado",
        "Transceivers decide both; `--bill all` prints every line of the two bills.",
    ),
    Shown(
        "Part-time optics beside a tree",
        "lightloom compare examples/hybrid.toml",
        "jobs",
        "A migration gains most from circuits: it sends much between few racks. The second "
        "migration shows what a small socket buffer takes of that.",
    ),
    Shown(
        "Circuits that take turns",
        "lightloom compare examples/circuits.toml",
        "fct-distribution",
        "How long flows wait for their circuit's turn, by schedule, beside Sirius and a Clos; "
        "this is uniform traffic, the report has skewed traffic as well.",
    ),
    Shown(
        "Packet switches with and without buffers",
        "lightloom compare examples/lions.toml",
        "latency-load",
        "Latency is flat until a fabric saturates; the dotted uprights say where.",
    ),
    Shown(
        "Updates a second",
        "lightloom compare examples/gups.toml",
        "jobs",
        "The first job makes four times as many updates as the second in less than twice the "
        "time: header and guard take most of what is sent around a single update.",
    ),
    Shown(
        "Circuits for a demand",
        "lightloom plan examples/demand-8.csv --algorithm edmonds",
        "plan",
        "The demand on the left, the pairs that get a circuit on the right: no other choice of "
        "four carries more.",
    ),
)


def on_files(files: Files, config: Any) -> Files:
    """Adds the page and its images."""
    from mkdocs.structure.files import File

    for shown in GALLERY:
        path = f"images/gallery/{shown.name}.png"
        files.append(File.generated(config, path, abs_src_path=str(picture(shown))))
    files.append(File.generated(config, "gallery.md", content="\n".join(page())))
    return files


def page() -> Iterator[str]:
    """The page."""
    yield "# Gallery\n"
    yield "Each example of the repository with its command, a picture and what to see in it."
    yield "`make docs` ran them; so do you, in a checkout. The report has more pictures of each.\n"
    for shown in GALLERY:
        yield f"## {shown.title}\n"
        yield f"```sh\n{shown.command}\n```\n"
        yield f"![{shown.title}](images/gallery/{shown.name}.png)\n"
        yield f"{shown.see}\n"


def picture(shown: Shown) -> Path:
    """Returns the image of an example, which is made again if the example or Lightloom has
    changed."""
    kept = KEPT / f"{shown.name}-{digest(shown)}.png"
    if not kept.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            made = make(shown, Path(folder))
            part = kept.with_suffix(".part")
            part.write_bytes(made.read_bytes())
            part.replace(kept)
    return kept


def make(shown: Shown, folder: Path) -> Path:
    """Runs the command of an example; returns its image in the folder."""
    words = shlex.split(shown.command)[1:]
    if words[0] == "cost":
        return tornado(ROOT / words[1], folder / "tornado.png")
    if words[0] == "plan":
        made = folder / "plan.png"
        words += ["--picture", str(made)]
    else:
        words += ["-o", str(folder)]
        made = folder / "figures" / f"{shown.picture}.png"
    command = [sys.executable, "-m", "lightloom", *words]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    if made.exists():
        return made
    # Each of several cases has its own figure; the first one is used.
    return min((folder / "figures").glob(f"*-{shown.picture}.png"))


def tornado(experiment: Path, made: Path) -> Path:
    """Draws which price decides the costs of its fabrics."""
    import lightloom
    from lightloom.plotting.tornado import figure

    costs = lightloom.cost(experiment)
    figure(list(costs.fabrics.values()), costs.book.currency).savefig(made, dpi=150)
    return made


def digest(shown: Shown) -> str:
    """Returns a digest that changes with the contents of an example, and with Lightloom."""
    from lightloom import _core

    found = hashlib.sha256(repr(shown).encode())
    files = [*sorted((ROOT / "examples").iterdir()), Path(_core.__file__ or "")]
    for path in files:
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()[:12]
