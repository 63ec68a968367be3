use super::*;
use lightloom_engine::{HostId, Io, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn cm() {
    let text = "Nodes 16\nConnections 2\nTriggers 0\n\
                3->2 id 7 start 5000000 size 250000 prio 1\n0->1 size 1000 start 0\n";
    let flows = read_cm(text, "t.cm").unwrap();
    assert_eq!(flows.src, [HostId(0), HostId(3)]);
    assert_eq!(flows.dst, [HostId(1), HostId(2)]);
    assert_eq!(flows.bytes, [1_000, 250_000]);
    assert_eq!(flows.arrival, [Time(0), Time(5_000_000)]);
    assert_eq!(
        write_cm(&flows, 16).unwrap(),
        "Nodes 16\nConnections 2\n0->1 id 1 start 0 size 1000\n\
         3->2 id 2 start 5000000 size 250000\n"
    );
}

#[test]
fn decimals_are_picoseconds_and_size_0_is_endless() {
    let text = "Nodes 4\nConnections 3\n0->1 start 7.999999 size 0\n1->2 start 0.000000 size 5\n\
                2->3 start 16777217.0 size 0\n";
    let flows = read_cm(text, "t.cm").unwrap();
    assert_eq!(flows.arrival, [Time(0), Time(7), Time(16_777_217)]);
    assert_eq!(flows.bytes, [5, 0, 0]);
    assert!(flows.after.is_empty());
    let again = write_cm(&flows, 4).unwrap();
    assert!(again.contains("0->1 id 2 start 7 size 0\n"), "{again}");
    assert_eq!(read_cm(&again, "t.cm").unwrap().bytes, flows.bytes);
}

fn bad(text: &str) -> String {
    read(text, "t.cm", 8, None).unwrap_err().to_string()
}

#[test]
fn errors_name_line_column_and_remedy() {
    let line = |line: &str| bad(&format!("Nodes 8\nConnections 1\n{line}\n"));
    assert_eq!(
        line("0->1 id 1 start x size 1"),
        "t.cm, line 3, column 17: start is `x`, not a number of picoseconds; write it in digits \
         from 0 on, such as 12 or 12.5"
    );
    for start in [
        "-5", "1.-5", "1.", ".5", "1e3", "1.5.0", "nan", "1_000", "+1",
    ] {
        let e = line(&format!("0->1 id 1 start {start} size 1"));
        let expect = format!("column 17: start is `{start}`, not a number of picoseconds");
        assert!(e.contains(&expect), "{e}");
    }
    assert!(line("0->1 start 4611686018427387905.0 size 1").contains("outside 0 to 461168601842"));
    assert!(line("0->1 start 0 size -1").contains("size is `-1`, not a whole number"));
    assert!(line("0->1 start 0 size 9007199254740993").contains("outside 0 to 9007199254740992"));
    assert!(line("0->8 start 0 size 1").contains("column 4: dst is 8, the last host is 7"));
    assert!(line("0-1 start 0 size 1").contains("neither a heading nor a connection"));
    assert!(line("0->1 start 0").contains("column 13: has no size"));
    assert!(line("0->1 size 4").contains("column 12: has no start"));
    assert!(line("0->1 start 0 size").contains("column 18: size has no value"));
    assert!(line("0->1 start 0 sizes 1").ends_with("did you mean \"size\"?"));
    assert!(line("0->1 start 0 start 1 size 1").contains("start is there twice"));
    assert!(line("0->0 start 0 size 1").contains("column 4: host 0 sends to itself"));
    assert!(line("").contains("column 13: declares 1 connections, the file has 0"));
    let e = bad("Nodes 4\nConnections 99999999999\n0->1 start 0 size 1\n");
    assert!(e.contains("line 2, column 13: declares 99999999999"), "{e}");
    assert!(bad("Nodes 4\nConnections 1\n0->5 start 0 size 1\n").contains("last host is 3"));
    assert!(bad("0->1 start 0 size 1\n").contains("before the number of nodes"));
    assert!(bad("Nodes 4\nNodes 4\n").contains("Nodes is there twice"));
    assert!(bad("Nodes 4 4\n").contains("has 3 words"));
    assert!(bad("Nodes 4\nConnections 0\n").contains("has no flows"));
    assert!(bad("Nodes 4\n0->1 start 0 size 1\n").contains("the number of connections"));
    assert!(bad("Failures 2\n").contains("[[fault]]"));
    assert_eq!(
        bad("Nodes 9\nConnections 1\n0->1 start 0 size 1\n"),
        "t.cm, line 1, column 7: declares 9 nodes, and the cluster has 8 servers; raise \
         cluster.racks or cluster.servers_per_rack, or declare as many as send"
    );
}

/// A file of these lines, with the headings that they need.
fn file(lines: &[&str]) -> String {
    let triggers = lines.iter().filter(|l| l.starts_with("trigger ")).count();
    let connections = lines.len() - triggers;
    let head = format!("Nodes 8\nConnections {connections}\nTriggers {triggers}\n");
    head + &lines.join("\n")
}

#[test]
fn triggers_that_cannot_be_are_refused() {
    let says = |lines: &[&str], expect: &str| {
        let e = bad(&file(lines));
        assert_eq!(e, format!("t.cm, line {expect}"), "{lines:?}");
    };
    let first = "0->1 id 1 start 0 size 9 send_done_trigger 1";
    says(
        &[first, "1->2 id 2 trigger 7 size 9", "trigger id 1 oneshot"],
        "5, column 19: trigger 7 is not declared; add a line `trigger id 7 oneshot`",
    );
    says(
        &["0->1 id 1 trigger 1 size 9", "trigger id 1 oneshot"],
        "4, column 19: trigger 1 never fires, as no flow names it when it is done; add \
         `send_done_trigger 1` to a flow, or give this one a start",
    );
    says(
        &[
            first,
            first,
            "1->2 trigger 1 size 9",
            "trigger id 1 oneshot",
        ],
        "5, column 44: trigger 1 is oneshot, and 2 flows fire it; make it a barrier with \
         `count 2`, or multishot",
    );
    says(
        &[
            first,
            "1->2 trigger 1 size 9",
            "trigger id 1 barrier count 2",
        ],
        "6, column 1: trigger 1 has count 2, and 1 flow fires it; write `count 1`, or correct \
         the flows",
    );
    says(
        &[
            first,
            "1->2 trigger 1 size 9",
            "2->3 trigger 1 size 9",
            "trigger id 1 multishot",
        ],
        "6, column 14: trigger 1 is fired 1 times, each for one flow, and 2 wait for it; let \
         more flows fire it, or make it oneshot or a barrier, which start all",
    );
    says(
        &[
            "0->1 trigger 1 size 9 send_done_trigger 2",
            "1->2 trigger 2 size 9 recv_done_trigger 1",
            "trigger id 1 oneshot",
            "trigger id 2 oneshot",
        ],
        "4, column 14: trigger 1 never fires often enough: the flows of lines 4, 5 wait for \
         each other; give one of them a start",
    );
    says(
        &[
            "0->1 trigger 1 size 9 send_done_trigger 1",
            "trigger id 1 multishot",
        ],
        "4, column 14: trigger 1 never fires often enough: the flow of line 4 waits for itself; \
         give one of them a start",
    );
    says(
        &[
            "0->1 start 0 size 0 send_done_trigger 1",
            "trigger id 1 oneshot",
        ],
        "4, column 39: a flow of size 0 sends until the run stops, so it is never done; give it \
         a size, or remove the trigger",
    );
    says(
        &[
            first,
            "1->2 trigger 1 start 5 size 9",
            "trigger id 1 oneshot",
        ],
        "5, column 22: a flow that waits for a trigger has no start of its own; remove the \
         start, or the trigger",
    );
}

#[test]
fn lines_of_triggers_are_read_or_refused() {
    let e = |line: &str| bad(&file(&["0->1 start 0 size 9", line]));
    assert!(e("trigger id 0 oneshot").contains("id is `0`, outside 1 to 4294967295"));
    assert!(e("trigger oneshot").contains("column 16: has no id; write it like `trigger id 1"));
    assert!(e("trigger id 1").contains("column 13: has no kind"));
    assert!(e("trigger id 1 barrier").contains("column 21: has no count"));
    assert!(e("trigger id 1 barrier count 0").contains("count is `0`, outside 1 to"));
    assert!(e("trigger id 1 barrier count two").contains("count is `two`, not a whole number"));
    assert!(e("trigger id 1 oneshot barrier").contains("column 22: `barrier` is a second one"));
    let once = e("trigger id 1 once");
    assert!(
        once.contains("column 14: `once` is not part of a trigger; "),
        "{once}"
    );
    let twice = e("trigger id 1 oneshot\ntrigger id 1 oneshot");
    assert!(
        twice.contains("line 6, column 12: trigger 1 is there twice; remove one"),
        "{twice}"
    );
    let e = bad("Nodes 8\nConnections 1\n0->1 start 0 size 1\ntrigger id 1 oneshot\n");
    assert_eq!(
        e,
        "t.cm: has no line with the number of triggers, 1; add a line `Triggers 1` after `Connections M`"
    );
    let e = bad("Nodes 8\nConnections 1\nTriggers 2\n0->1 start 0 size 1\ntrigger id 1 oneshot\n");
    assert!(
        e.contains("line 3, column 10: declares 2 triggers, the file has 1"),
        "{e}"
    );
    let e = bad(&file(&["0->1 trigger 0 size 1"]));
    assert!(e.contains("trigger is `0`, outside 1 to"), "{e}");
    // Flows that fire no trigger, and triggers without waiting flows, are open loops.
    for lines in [
        &["0->1 start 0 size 1 send_done_trigger 0"][..],
        &[
            "0->1 start 0 size 1 send_done_trigger 3",
            "trigger id 3 multishot count 9",
        ],
        &["0->1 start 0 size 1", "trigger id 3 oneshot"],
    ] {
        assert!(
            read_cm(&file(lines), "t").unwrap().after.is_empty(),
            "{lines:?}"
        );
    }
}

/// Delivers every flow one picosecond per byte after its start.
fn play(text: &str) -> Vec<i64> {
    let mut io = Io::new(read_cm(text, "t.cm").unwrap());
    let mut ends: BTreeSet<(Time, u32)> = BTreeSet::new();
    loop {
        let next = io.next_arrival().unwrap_or(Time::NEVER);
        match ends.first().copied() {
            Some((at, f)) if at <= next => {
                ends.remove(&(at, f));
                let flow = lightloom_engine::FlowId(f);
                io.deliver(flow, io.flows.bytes[f as usize], at);
            }
            _ if next == Time::NEVER => break,
            _ => {
                let f = io.arrive(next).unwrap();
                let takes = Time(io.flows.bytes[f.index()] as i64);
                ends.insert((next + takes, f.0));
            }
        }
    }
    io.flows.arrival.iter().map(|t| t.0).collect()
}

#[test]
fn each_kind_by_hand() {
    // The times of a chain add up; both kinds of completion are the delivery.
    let chain = [
        "0->1 id 1 start 5.5 size 10 send_done_trigger 1",
        "1->2 id 2 trigger 1 size 20 recv_done_trigger 2",
        "2->3 id 3 trigger 2 size 30",
        "trigger id 1 oneshot",
        "trigger id 2 oneshot",
    ];
    assert_eq!(play(&file(&chain)), [5, 15, 35]);
    let barrier = [
        "0->1 start 0 size 10 send_done_trigger 1",
        "1->2 start 3 size 40 send_done_trigger 1",
        "2->3 start 9 size 1 send_done_trigger 1 recv_done_trigger 1",
        "3->4 trigger 1 size 5",
        "4->5 trigger 1 size 5",
        "trigger id 1 barrier count 4",
    ];
    assert_eq!(play(&file(&barrier)), [0, 3, 9, 43, 43]);
    // The first flow to finish starts the first that waits, and so on; the fourth starts none.
    let multishot = [
        "trigger id 1 multishot",
        "3->4 id 4 trigger 1 size 5",
        "0->1 id 1 start 0 size 30 send_done_trigger 1",
        "4->5 id 5 trigger 1 size 7 send_done_trigger 1",
        "1->2 id 2 start 0 size 10 send_done_trigger 1",
        "2->3 id 3 start 0 size 20 send_done_trigger 1",
        "5->6 id 6 trigger 1 size 9",
    ];
    assert_eq!(play(&file(&multishot)), [10, 0, 20, 0, 0, 27]);
}

/// A random file: for each flow its trigger, its start, its duration and the trigger that it fires;
/// kinds of triggers 1 to 3, and the count of each.
type Drawn = (Vec<(u32, i64, u64, u32, u32)>, Vec<(usize, u32)>);

fn drawn() -> impl Strategy<Value = Drawn> {
    // Few flows wait, so that many files can be played.
    let id = |zeros| prop_oneof![zeros => Just(0u32), 2 => 1u32..4];
    let flow = (id(2), 0i64..50, 1u64..60, id(1), id(6));
    (
        prop::collection::vec(flow, 1..8),
        prop::collection::vec((0usize..3, 1u32..4), 3),
    )
}

fn text_of((flows, triggers): &Drawn) -> String {
    let mut lines = Vec::new();
    for (i, &(waits, start, bytes, sent, received)) in flows.iter().enumerate() {
        let begin = match waits {
            0 => format!("start {start}.75"),
            id => format!("trigger {id}"),
        };
        lines.push(format!(
            "{}->{} id {} {begin} size {bytes} send_done_trigger {sent} \
             recv_done_trigger {received}",
            i % 8,
            (i + 1) % 8,
            i + 1
        ));
    }
    for (i, (kind, count)) in triggers.iter().enumerate() {
        let kind = ["oneshot", "multishot", &format!("barrier count {count}")][*kind].to_owned();
        lines.push(format!("trigger id {} {kind}", i + 1));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    file(&lines)
}

/// A step-by-step model of htsim: starts, or `None` if it would abort or leave a flow that never
/// starts.
fn by_steps((flows, triggers): &Drawn) -> Option<Vec<i64>> {
    let mut starts: Vec<Option<i64>> = flows.iter().map(|f| (f.0 == 0).then_some(f.1)).collect();
    let mut fired = [0u32; 4];
    let mut done = BTreeSet::new();
    loop {
        let ends = (0..flows.len()).filter(|f| !done.contains(f));
        let ends = ends.filter_map(|f| Some((starts[f]? + flows[f].2 as i64, f)));
        let Some((now, f)) = ends.min() else { break };
        done.insert(f);
        for id in [flows[f].3, flows[f].4].into_iter().filter(|&id| id > 0) {
            fired[id as usize] += 1;
            let times = fired[id as usize];
            let waiting: Vec<usize> = (0..flows.len()).filter(|&w| flows[w].0 == id).collect();
            let (kind, count) = triggers[id as usize - 1];
            let go: Vec<usize> = match kind {
                0 if times > 1 => return None,
                0 => waiting,
                1 => waiting
                    .get(times as usize - 1)
                    .copied()
                    .into_iter()
                    .collect(),
                _ if times > count => return None,
                _ if times == count => waiting,
                _ => Vec::new(),
            };
            for w in go {
                starts[w] = Some(now);
            }
        }
    }
    let short = |(id, t): (usize, &(usize, u32))| t.0 == 2 && fired[id + 1] != t.1;
    match triggers.iter().enumerate().any(short) {
        true => None,
        false => starts.into_iter().collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    /// A file is played as by htsim's triggers, or refused if htsim would abort or leave a flow or
    /// a barrier waiting. Flows that end at the same time may fire a multishot trigger in either
    /// order, so such files are excluded.
    #[test]
    fn random_files_are_played_as_step_by_step_or_refused(drawn in drawn()) {
        let text = text_of(&drawn);
        match (by_steps(&drawn), read_cm(&text, "t.cm")) {
            (None, read) => {
                let e = read.expect_err(&text);
                prop_assert!(e.line > 0 && !e.remedy.is_empty(), "{e}");
            }
            (Some(starts), read) => {
                prop_assert!(read.is_ok(), "{}\n{text}", read.unwrap_err());
                let waits = drawn.0.iter().any(|f| f.0 > 0);
                let mut ends: BTreeMap<i64, u32> = BTreeMap::new();
                for (f, start) in drawn.0.iter().zip(&starts) {
                    *ends.entry(start + f.2 as i64).or_default() += 1;
                }
                prop_assume!(ends.values().all(|&n| n == 1));
                let mut starts = starts;
                if !waits {
                    starts.sort_unstable();
                }
                prop_assert_eq!(play(&text), starts, "{}", text);
            }
        }
    }
}
