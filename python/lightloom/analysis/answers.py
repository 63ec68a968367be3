"""The sentences of verdicts, by kind of statement. `wording` has the rules of the values in
braces."""

ANSWERS = {
    # Fabrics and their figures, as parts of other sentences.
    "figure": "{label}: {figure:ends}",
    "figure of": "{label} {figure}",
    "plain figure of": "{label} {figure:plain}",
    "figure in brackets": "{label} ({figure})",
    "plain figure in brackets": "{label} ({figure:plain})",
    "share of": "{label} {share:share}",
    "finished share": "{label} finished {share}",
    # Figures that are not ranked.
    "no intervals": "{figures:listed}; {longer} would tell.",
    "no intervals: not ranked": "Not ranked: {figures:listed}; {longer} would tell.",
    "all too wide": "{figures:listed}, too wide to place; use more seeds or flows.",
    "some too wide": (
        "{figures:listed}: {wide:listed} {wide:is|are} too wide to place; use more seeds or flows."
    ),
    "too wide": "{labels:listed} {labels:is|are} too wide to place; use more seeds or flows.",
    "not ranked": "{each:listed}: {each:its|their} times and queues are not ranked.",
    "none ranked": (
        "No fabric carries this load: {each:listed}: {each:its|their} times and queues are not "
        "ranked."
    ),
    "load not carried": "{label} cannot carry the load",
    "fewer jobs": "{label} finished {finished} of the {most} jobs that another finished",
    "less delivered in time": (
        "{label} delivered {share:share} of the offered bytes while flows arrived"
    ),
    "less delivered": (
        "{label} delivered {share:share} of the best fabric, in bytes, flows or jobs"
    ),
    # The margins of the other fabrics.
    "slower": "{label} takes {factor:long} ({figure})",
    "each slower": "{each:joined}.",
    "others all slower": "The others all take {factor:long}.",
    "others slower": "The others take from {least:long} ({near}) to {most:long} ({far}).",
    "carries less": "{label} carries {factor:less} less ({figure})",
    "each carries less": "{each:joined}.",
    "others all carry less": "The others all carry {factor:less} less.",
    "others carry less": (
        "The others carry from {least:less} less ({near}) to {most:less} less ({far})."
    ),
    "behind": "{by} than {label} ({figure})",
    "behind, load unknown": "{by} than {label} ({figure}, not known to carry the load)",
    "behind, held back": "{by} than {label} ({figure}, held back by {setting})",
    "behind, ends": "from {least} than {near} to {most} than {far}",
    # The first verdict.
    "verdict": "{lead}{ahead:semicolon}",
    "title": "{finding:title}",
    "explained": "{finding:explained}",
    "jobs done": "{finding:jobs}",
    "none known to be ahead": "No fabric is known to be ahead in {measure}",
    "run too short to lead": "The run is too short to tell which fabric is ahead in {measure}",
    "too few flows to lead": "Too few flows to tell which fabric is ahead in {measure}",
    "ahead": "{leaders:listed} {wins}",
    "ahead of those ranked": "{leaders:listed} {wins} of those that can be ranked",
    "ahead together": "{leaders:listed} {wins} (level)",
    "level in measure": "{leaders:listed} are level in {measure}",
    "best figure": "{label}: {figure}{behind:semicolon}.",
    "level figures": "Level in {measure}: {figures:listed}{behind:semicolon}.",
    "too few flows for intervals": (
        "{flows:,} {flows:flow|flows}, too few for intervals: {figures:listed}{behind:semicolon}."
    ),
    "too few short flows for intervals": (
        "{flows:,} {flows:short flow|short flows}, too few for intervals: "
        "{figures:listed}{behind:semicolon}."
    ),
    "too close flows for intervals": (
        "{flows:,} {flows:flow|flows}, in too short a time for intervals: "
        "{figures:listed}{behind:semicolon}."
    ),
    "too close short flows for intervals": (
        "{flows:,} {flows:short flow|short flows}, in too short a time for intervals: "
        "{figures:listed}{behind:semicolon}."
    ),
    "figures of flows under way": "Flows were under way at the end: {figures:listed}.",
    "figures without narrow intervals": "Without narrow intervals: {figures:listed}.",
    "figures so far": "So far, in {measure}: {figures:listed}.",
    "each flow sooner": "Each flow is done sooner on {label} than on {others:listed}.",
    "flows sooner": (
        "{share:share} of the flows are done sooner on {label} than on {others:listed}, and none "
        "later."
    ),
    "ahead elsewhere": "{label} {wins}: {figure}, {by} than {against}.",
    "runs that ended early": "{runs:cuts}",
    "dark start": "{starts:dark}",
    "rare decisions": "{intervals:rarely}",
    # Conditions under which another fabric would be ahead.
    "leads": "{leaders:listed} {wins} ({figure})",
    "leads at load": "at {load:load} {leads}",
    "leads under": "under {name} {leads}",
    "leads by": "{leaders:listed} if {measures:or} decides",
    "another load": "Another load: {each:joined}.",
    "not the load": "Not the {called}: no other fabric is ahead at {loads:loads}.",
    "loads without a leader": (
        "At load {loads:loads} the run does not show which fabric is ahead."
    ),
    "another workload": "Another workload: {each:joined}.",
    "other physics": "Other physics: {each:joined}.",
    "not the other": "Not the other {what}: no other fabric is ahead under {names:listed}.",
    "another measure": "Another measure: {each:listed}.",
    "what did not arrive": (
        "What did not arrive: {each:listed} may be ahead; {remedy} would show it."
    ),
    "has setting": "{label} has {setting}",
    "another setting": (
        "Another setting: {each:listed}; "
        "{each:it is held back by that|they are held back by those}."
    ),
    "nothing over circuits": (
        "Circuits: {labels:listed} sent nothing over circuits, so what is judged "
        "{labels:is its electrical network|are their electrical networks} alone; use a longer run "
        "or a shorter fabric.interval."
    ),
    "slow flows": "{label} {slow_s:time}",
    "longer run": (
        "A longer run: flows arrived for {lasts_s:time}, and 99 % of {flows} take {each:listed}: "
        "no steady state; {remedy}."
    ),
    "longer warm-up": (
        "A longer run: {length}, and 99 % of {flows} take {each:listed}: no steady state; {remedy}."
    ),
    "unplaced may lead": ("More flows or seeds: {labels:listed} may be ahead, level or behind."),
    "more flows or seeds": (
        "More flows or seeds: {leaders:listed} are less than {level:percent} apart, or their 95 % "
        "intervals overlap."
    ),
    "one draw at once": (
        "Another seed: this is one draw, which has no interval if all flows begin at once; "
        "run.repeat gives intervals over draws."
    ),
    "one draw, intervals over flows": (
        "Another seed: this is one draw, and intervals are over its flows; run.repeat adds draws."
    ),
    "one draw, no interval decides": (
        "Another seed: this is one draw, and the figures that decide have no intervals; run.repeat "
        "adds draws."
    ),
    "one draw, no intervals": (
        "Another seed: this is one draw, and its figures have no intervals; run.repeat adds draws."
    ),
    "seed of fabrics alone": (
        "Another seed: it does not change the traffic, only the random choices of fabrics, such as "
        "paths."
    ),
    "one trace": "Another trace: these are the flows of one trace.",
    "one trace, several seeds": (
        "Another trace: all seeds use this trace, so intervals over seeds show only the random "
        "choices of the fabrics."
    ),
    "run to the end": 'What did not arrive: run.stop = "drain" would show their times.',
    "longer trace": (
        "A longer trace: these flows are too few; all seeds would use the same flows."
    ),
    "trace as long as": (
        "A longer trace: 95 % intervals need {needed}; all seeds would use the same flows."
    ),
    "more flows for intervals": (
        "More flows or seeds: these flows are too few for 95 % intervals."
    ),
    "run as long as": ("A longer run or more seeds: 95 % intervals need {needed}, or run.repeat."),
    # Short flows, and the latency of a window.
    "too short": "{finding:title}. {finding:explained}",
    "no short flow": "The workload has no flow under 100 KB, so this run has no answer.",
    "no short flow finished": "No short flow finished, so this run has no answer.",
    "short flows of one": "Of {label} alone, 99 % of short flows finish within {p99:time}.",
    "soonest short flows": "{label}: 99 % of its short flows finish within {p99:time}.",
    "too few short flows": "Too few flows to tell: 99 % of short flows finish within {p99}.",
    "level short flows": (
        "{leaders:listed} are level: 99 % of their short flows finish within {p99}."
    ),
    "none finished": "{label} (none finished)",
    "few finished": "{label} (only {share:share})",
    "short flows unfinished": "Not ranked, for the short flows left unfinished: {each:listed}.",
    "percentile of few": (
        "A 99th percentile of {flows:,} {flows:short flow|short flows} rests on its few slowest."
    ),
    "level: intervals": (
        "Level: less than {level:percent} apart, or with overlapping 95 % intervals ({source})."
    ),
    "interval of best": "95 % interval of the best: {low:time} to {high:time} ({source}).",
    "interval of best, from 0": "95 % interval of the best: 0 to {high:time} ({source}).",
    "no upper end": ("The best has no upper end of a 95 % interval: too few flows ({source})."),
    "percentiles are bounds": (
        "{each:listed} of the short flows. A percentile marked > is a lower bound: it includes "
        "unfinished flows, each counted with its waiting time so far."
    ),
    "queues only grow": "No fabric carries it{at}: queues only grow.",
    "mean latency": "On average in {mean}{at}.",
    "lowest latency": ("{leaders:listed} {leaders:has|share} the lowest mean latency{at}: {mean}."),
    "too few for latency": (
        "Too few flows to tell which has the lowest mean latency{at}: {each:listed}."
    ),
    "flows unfinished": "Not ranked, for the flows left unfinished: {each:listed}.",
    "loads not carried": "{labels:listed} cannot carry the load.",
    "correlated batches": (
        "Batches of {labels:listed} resemble their neighbours: a longer window is needed for a "
        "narrow interval."
    ),
    # The load before saturation, and the load delivered.
    "highest saturation": (
        "{leaders:listed} carries the most: {share:share} of the servers' capacity."
    ),
    "level saturation": "{leaders:listed} are level: {share:share} of the servers' capacity.",
    "saturation of one": "{leaders:listed} carries {share:share} of the servers' capacity.",
    "search too short": (
        "The windows of the search are too short to tell at which load {labels:listed} "
        "{labels:saturates|saturate}; lengthen run.warm_up and run.measure."
    ),
    "highest load carried": "{labels:listed} carried the highest load that was tried.",
    "no load delivered": "No load was delivered, so this run has no answer.",
    "all delivered by each": (
        "{when} each of them delivers what is drawn (all of it while flows arrive)."
    ),
    "all delivered by one": "{when} {label} delivers what is drawn (all of it while flows arrive).",
    "nearly all delivered by each": (
        "{when} each of them delivers what is drawn ({share:share} or more of it while flows "
        "arrive)."
    ),
    "nearly all delivered by one": (
        "{when} {label} delivers what is drawn ({share:share} of it while flows arrive)."
    ),
    "at load": "{when}",
    "load of one": "{when} {label} carries {share} of the servers' capacity.",
    "highest load": "{when} {label} carries the most: {share} of the servers' capacity.",
    "level load": "{when} {leaders:listed} are level: {each:listed} of the servers' capacity.",
    "bytes in flight": (
        "Bytes in flight when the last flow arrived do not count as delivered, even if the run "
        "continues until all are delivered."
    ),
    "other load drawn": (
        "The actual offered load is {drawn:share} of the servers' capacity; {asked:load} was "
        "requested."
    ),
    # The cost of oversubscription.
    "cost": "{worse} against {base}: {costs:joined}.",
    "cost at load": "{at:after}{cost:and}",
    "window too short": "the window is too short to tell",
    "run too short": "the run is too short to tell",
    "each flow longer": "its flows take {factor:ratio} as long on average, each of them longer",
    "load lost": ("it does not carry the load (delivers {worse:share} against {base:share})"),
    "jobs unfinished": "not all jobs finished",
    "jobs longer": "jobs take {factor:long}",
    "no difference": "no difference",
    "no difference shown": "no difference that this run can show",
    "too few to tell": (
        "too few flows to tell ({measure} is {after:plain} against {before:plain})"
    ),
    "time longer": "{measure} is {factor:ratio} as long ({after} against {before})",
    "delivers nothing": "it delivers nothing ({after} against {before})",
    "delivers less": "it delivers {factor:less} less ({after} against {before})",
    "delivers more": "it delivers {factor:more} more ({after} against {before})",
    "bars": "Bars: {measure}{at}.",
    # Jobs and circuits.
    "bars of jobs": "Bars: from the first job's beginning until the last job is done.",
    "jobs of the table": "The table has all {jobs} jobs.",
    "level jobs: intervals": (
        "Level: less than {level:percent} apart, or with overlapping 95 % intervals."
    ),
    "level jobs: one seed": "Level: less than {level:percent} apart (one seed).",
    "job": "{name}:",
    "job: none finished": "no fabric finished it.",
    "job: time": "{time}.",
    "job: soonest": "{leaders:listed} takes {time}.",
    "job: level": "{leaders:listed} are level at {time}.",
    "unfinished jobs": "Unfinished on {labels:listed}.",
    "nothing delivered": "Nothing was delivered, so this run has no answer.",
    "most over circuits": (
        "{leaders:listed} sends {share:share} of the delivered bytes over circuits."
    ),
    "most over circuits, others less": (
        "{leaders:listed} sends {share:share} of the delivered bytes over circuits; {rest:listed}."
    ),
    "level over circuits, others less": (
        "{leaders:listed} send about {share:share} of the bytes over circuits; {rest:listed}."
    ),
    "all alike over circuits": "About {share:share} of the delivered bytes in {leaders:listed}.",
    "note on fabric": "{label}: {note}.",
    # Memory and links.
    "different queues": (
        "The figures count different places and are not compared: {places:joined}."
    ),
    "queue place": "of {labels:listed}, {place}",
    "one queue": "The worst node of {label} queues {peak} at its peak.",
    "level queues": "{leaders:listed} are level: {peak} at the peak of the worst node.",
    "shortest queue": (
        "{leaders:listed} {leaders:needs|need} least: {peak} at the peak of the worst node."
    ),
    "longest queue": "{label} needs most: {peak}.",
    "longest queue, by factor": "{label} needs most: {peak}, {factor:ratio} as much.",
    "reorder buffer": "{bytes:bytes} in {label}",
    "reorder buffers": (
        "Putting the worst flow back in order takes {each:listed} at its receiver."
    ),
    "largest reorder buffer": (
        "Putting the worst flow back in order takes at most {bytes:bytes}, in {label} at its "
        "receiver."
    ),
    "no queue figure": "No queue figure: {labels:listed}.",
    "queue kept short": "{label} has {setting}, which keeps its queue short.",
    "memories of a switch": "{label} has {memories}",
    "nodes are memories": "A node of a switch is one of its memories: {each:listed}.",
    "links of one": "On average {label} uses {share:share} of its links' capacity.",
    "links alike": "About equally in {leaders:listed}: {share:share} on average.",
    "busiest links": "Busiest in {leaders:listed}: {share:share} on average.",
    "idlest links": "Least in {label}: {share:share}.",
    "shares of own links": (
        "In shares of a fabric's own links, over the whole run: with more links, or while the last "
        "flows drain, it is less busy."
    ),
    "hops occupy links": (
        "A byte that takes more hops occupies more links: a busy fabric need not deliver more."
    ),
    # Undelivered traffic.
    "every flow finished": "Every flow finished.",
    "nearly all": (
        "Almost: every fabric finished {share} of the flows or more by the end of the run."
    ),
    "nearly all, one fabric": (
        "Almost: {label} finished {share} of the flows by the end of the run."
    ),
    "not all bytes": (
        "Not all: every fabric finished {share} of the flows or more by the end of the run."
    ),
    "not all bytes, one fabric": (
        "Not all: {label} finished {share} of the flows by the end of the run."
    ),
    "unfinished flows": "Not by the end of the run: {each:listed} of the flows.",
    "most unfinished": (
        "Not by the end of the run: {label} finished only {share} of the flows, and {others} "
        "others are short of all."
    ),
    "bytes arrived": "{share} of the offered bytes arrived.",
    "bytes arrived, range": "Of the offered bytes, {low} ({least}) to {high} ({most}) arrived.",
    "lost": "{label} ({count:count})",
    "losses": "Cells or packets were lost on the way in {each:listed}.",
    "nothing lost": "Nothing was lost.",
    "flows left out": "{label} {cut:left out}",
    "flows that wait": "{label} {never_offered:,} were never offered, as they wait for others",
    "shares of offered flows": "Shares of bytes are of the offered flows alone: {each:listed}.",
}
