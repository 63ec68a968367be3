use super::*;
use crate::circuits::Circuits;
use crate::controller::StepId;
use crate::routes::Routes;
use lightloom_engine::Rate;
use serde_json::json;

fn text() -> String {
    let mut log = Log::new(&Header {
        format: FORMAT.to_owned(),
        version: "0.1.0".to_owned(),
        host: "a test".to_owned(),
        policy: serde_json::json!({"kind": "cthrough"}),
        order: Some(Order::DELETE_CREATE),
        hardware: Hardware::new(4, 1, Rate::GBPS),
        timing: Timing {
            interval: Time::S,
            computation_delay: Time::ZERO,
        },
        estimation: Estimation::plain(4, 1),
        shortest_slot: None,
        night: None,
    });
    log.input(Time::ZERO, &Input::Tick);
    log.action(Time::ZERO, &Action::WakeAt(Time::S));
    log.input(Time::S, &Input::Failed(StepId(3), "no light".to_owned()));
    log.finish()
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// The example of the page about the format.
#[test]
fn a_log_is_lines_that_people_can_read() {
    let text = text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(r#"{"format":"lightloom-controller/1","version":"0.1.0""#));
    assert!(lines[0].contains(r#""order":"delete-create","hardware":{"racks":4"#));
    assert_eq!(lines[1], r#"{"at_ps":0,"input":"tick"}"#);
    assert_eq!(
        lines[2],
        r#"{"at_ps":0,"action":{"wake_at":1000000000000}}"#
    );
    assert_eq!(
        lines[3],
        r#"{"at_ps":1000000000000,"input":{"failed":[3,"no light"]}}"#
    );
    assert_eq!(lines[4], r#"{"end":3}"#);
    assert_eq!(read(&text).unwrap().entries.len(), 3);
}

#[test]
fn a_log_that_was_cut_off_is_refused() {
    let text = text();
    let lines: Vec<&str> = text.lines().collect();
    let said = refused(&lines[..4].join("\n"));
    assert!(
        said.starts_with("line 4 = {\"at_ps\":1000000000000"),
        "{said}"
    );
    assert!(
        said.contains("cut off") && said.contains("record the run again"),
        "{said}"
    );
    let said = refused(&text[..text.len() - 20]);
    assert!(
        said.starts_with("line 4") && said.contains("not JSON"),
        "{said}"
    );
    assert!(refused(lines[0]).contains("cut off"));
    assert!(refused("").starts_with("line 1"));
}

#[test]
fn a_log_from_which_lines_are_missing_is_refused() {
    let text = text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(2);
    let said = refused(&lines.join("\n"));
    assert!(said.starts_with("line 4 = {\"end\":3}: 2 lines"), "{said}");
    let twice = format!("{text}{}\n", r#"{"at_ps":0,"input":"tick"}"#);
    let said = refused(&twice);
    assert!(
        said.starts_with("line 6") && said.contains("line 5 is the end"),
        "{said}"
    );
}

#[test]
fn a_log_of_another_format_is_refused() {
    let newer = text().replace("controller/1", "controller/2");
    assert_eq!(
        refused(&newer),
        "line 1: format = \"lightloom-controller/2\": this version reads \
         lightloom-controller/1; record the run again with this version"
    );
    let said = refused("{\"flows\": 3}\n");
    assert!(
        said.starts_with("line 1") && said.contains("not the first line"),
        "{said}"
    );
    let odd = text().replace("delete-create", "delete-everything");
    let said = refused(&odd);
    assert!(
        said.contains("no order is called delete-everything"),
        "{said}"
    );
}

/// Older controllers did not name the routes that stay, because they moved all traffic of a pair to
/// the electrical network. Their logs have the same format, and are read with this meaning.
#[test]
fn a_drain_without_routes_leaves_none() {
    let drain = |rest: &str| {
        let line = format!(r#"{{"at_ps":0,"action":{{"drain":[1,[[0,1]]{rest}]}}}}"#);
        text().replacen(
            r#"{"at_ps":0,"action":{"wake_at":1000000000000}}"#,
            &line,
            1,
        )
    };
    let read = |rest: &str| match &read(&drain(rest)).unwrap().entries[1].event {
        Event::Action(action) => action.clone(),
        other => panic!("{other:?}"),
    };
    let drained = |staying| Action::Drain(StepId(1), vec![(0, 1)], staying);
    assert_eq!(read(""), drained(Routes::none(false)));
    let direct = r#"{"directed":false,"routes":[{"racks":[0,1],"planes":[0]}]}"#;
    let staying = Routes::direct(&Circuits::both_ways([(0, 1)]));
    assert_eq!(read(&format!(",{direct}")), drained(staying));
    for more in [",7".to_owned(), format!(",{direct},{direct}")] {
        let said = refused(&drain(&more));
        assert!(said.starts_with("line 3"), "{said}");
    }
}

/// The same with the shortest slot.
#[test]
fn the_night_is_named_where_there_is_one() {
    let text = text();
    assert_eq!(read(&text).unwrap().header.night, None);
    assert!(!text.contains("night_ps"));
    let named = |ps: &str| text.replacen(r#""order":"#, &format!(r#""night_ps":{ps},"order":"#), 1);
    let header = read(&named("11500000")).unwrap().header;
    assert_eq!(header.night, Some(Time::NS * 11_500));
    let mut log = Log::new(&header);
    log.input(Time::ZERO, &Input::Tick);
    assert_eq!(read(&log.finish()).unwrap().header, header);
    let refused = refused(&named("-1"));
    assert!(refused.contains("line 1: night_ps = -1"), "{refused}");
}

/// Logs of switches that accept every slot, and older logs, do not have it.
#[test]
fn the_shortest_slot_is_named_where_there_is_one() {
    let text = text();
    assert_eq!(read(&text).unwrap().header.shortest_slot, None);
    assert!(!text.contains("shortest_slot"));
    let named = |ps: &str| {
        let order = r#""order":"#;
        text.replacen(order, &format!(r#""shortest_slot_ps":{ps},{order}"#), 1)
    };
    let header = read(&named("61000000")).unwrap().header;
    assert_eq!(header.shortest_slot, Some(Time::US * 61));
    let mut log = Log::new(&header);
    log.input(Time::ZERO, &Input::Tick);
    assert_eq!(read(&log.finish()).unwrap().header, header);
    for (odd, said) in [
        ("0", "line 1: shortest_slot_ps = 0: must be from 1 to"),
        ("-4", "line 1: shortest_slot_ps = -4: must be from 1 to"),
        ("3600000000000001", "lower it"),
        ("null", "line 1"),
    ] {
        let refused = refused(&named(odd));
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn a_damaged_line_is_named() {
    for (good, bad, said) in [
        (
            r#""input":"tick""#,
            r#""input":"tock""#,
            r#"line 2: input = "tock": must be one of "tick", "#,
        ),
        (
            r#""action":{"wake_at""#,
            r#""action":{"wake_up""#,
            "line 3: action",
        ),
        (r#"{"failed":[3,"#, r#"{"failed":["#, "line 4: input"),
        (
            r#""input":"tick""#,
            r#""inputs":"tick""#,
            r#"line 2: inputs = "tick": no such key"#,
        ),
        (
            r#""input":"tick""#,
            r#""input":"tick","action":"measure""#,
            "line 2 = {\"at_ps\":0,\"input\":\"tick\",\"action\":\"measure\"}: not one of",
        ),
        (
            r#"{"at_ps":0,"input""#,
            r#"{"at_ps":0,"at_ps":0,"input""#,
            "line 2 = ",
        ),
        (
            r#"{"end":3}"#,
            r#"{"end":-3}"#,
            "line 5 = {\"end\":-3}: not an end",
        ),
    ] {
        let found = refused(&text().replace(good, bad));
        assert!(found.starts_with(said), "{found}");
    }
}

/// The text with a value of the first line replaced.
fn with(pointer: &str, value: Value) -> String {
    let text = text();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(first).unwrap();
    *header.pointer_mut(pointer).unwrap() = value;
    format!("{header}\n{rest}")
}

#[test]
fn each_value_of_the_first_line_is_checked() {
    for (pointer, value, said) in [
        (
            "/hardware/racks",
            json!(400_000),
            "hardware.racks = 400000: must be from 2 to 4096; lower it",
        ),
        (
            "/hardware/racks",
            json!(0),
            "hardware.racks = 0: must be from 2 to 4096; raise it",
        ),
        (
            "/hardware/racks",
            json!(5),
            "estimation.racks = 4: hardware.racks is 5; make them the same",
        ),
        (
            "/hardware/planes",
            json!(0),
            "hardware.planes = 0: must be from 1 to 128; raise it",
        ),
        (
            "/hardware/ports",
            json!(5_000),
            "hardware.ports = 5000: must be from 1 to 4096; lower it",
        ),
        (
            "/hardware/rate_bps",
            json!(0),
            "hardware.rate_bps = 0: must be from 1 to 1000000000000000; raise it",
        ),
        (
            "/hardware/rate_bps",
            json!(7),
            "hardware.rate_bps = 7: a circuit carries no byte in 1 s; \
             raise it, or the interval",
        ),
        (
            "/timing/interval_ps",
            json!(0),
            "timing.interval_ps = 0: must be from 1 to 3600000000000000 (3600 s); raise it",
        ),
        (
            "/timing/interval_ps",
            json!(-5),
            "timing.interval_ps = -5: must be from 1 to 3600000000000000 (3600 s); raise it",
        ),
        (
            "/timing/computation_delay_ps",
            json!(-5),
            "timing.computation_delay_ps = -5: \
             must be from 0 to 3600000000000000 (3600 s); raise it",
        ),
        (
            "/estimation/racks",
            json!(4_000_000_000u32),
            "estimation.racks = 4000000000: hardware.racks is 4; make them the same",
        ),
        (
            "/estimation/reporters_per_rack",
            json!(0),
            "estimation.reporters_per_rack = 0: must be above 0; use 1",
        ),
        (
            "/estimation/smoothing",
            json!(-1),
            "estimation.smoothing = -1: must be above 0 and at most 1; use 1 to average nothing",
        ),
        (
            "/estimation/most",
            json!(0),
            "estimation.most = 0: must be above 0; raise it",
        ),
        (
            "/estimation/thresholds",
            json!({"queue_above": 1}),
            "estimation.thresholds.change_above = (missing): required; add it",
        ),
        (
            "/policy",
            json!("x"),
            "policy = \"x\": not a table with a kind or a file; record the run again",
        ),
        (
            "/policy",
            json!({}),
            "policy = {}: not a table with a kind or a file; record the run again",
        ),
        (
            "/policy",
            json!({"kind": 3}),
            "policy.kind = 3: not a name; record the run again",
        ),
    ] {
        assert_eq!(refused(&with(pointer, value)), format!("line 1: {said}"));
    }
    let both = refused(&with("/policy", json!({"kind": "a", "file": "b"})));
    assert!(both.contains("not a table with a kind or a file"), "{both}");
    let many = json!(2_000_000_000u32);
    let said = refused(&with("/estimation/reporters_per_rack", many));
    assert!(said.contains("more reporters than"), "{said}");
    assert!(refused(&with("/hardware", json!({}))).starts_with("line 1: hardware.racks = (miss"));
    assert!(refused(&with("/hardware/racks", json!("4"))).starts_with("line 1: hardware.racks = "));
}

/// A log of a controller of four racks on two planes with an interval of 1 s; these rows are of its
/// first interval.
fn log(rows: &[Value]) -> Read {
    let mut lines = vec![with("/hardware/planes", json!(2))
        .lines()
        .next()
        .unwrap()
        .to_owned()];
    let opening = [
        json!({"at_ps": 0, "input": "tick"}),
        json!({"at_ps": 0, "action": {"wake_at": Time::S.0}}),
        json!({"at_ps": Time::S.0, "input": "tick"}),
    ];
    lines.extend(opening.iter().chain(rows).map(Value::to_string));
    lines.push(json!({"end": lines.len() - 1}).to_string());
    read(&lines.join("\n")).unwrap()
}

fn unfit(rows: &[Value]) -> String {
    log(rows).check().unwrap_err().to_string()
}

fn asked(action: Value) -> Value {
    json!({"at_ps": Time::S.0, "action": action})
}

fn heard(input: Value) -> Value {
    json!({"at_ps": Time::S.0, "input": input})
}

#[test]
fn racks_and_planes_that_there_are_not_are_refused_wherever_they_stand() {
    let routes = |racks: Value, planes: Value| json!({"directed": false, "routes": [{"racks": racks, "planes": planes}]});
    let found = |key: &str, value: Value| {
        let none = json!({"directed": false, "circuits": []});
        let mut found = json!({
            "lit": none,
            "routes": {"directed": false, "routes": []},
            "schedule": null,
            "drained": [],
            "works": [true, true, true, true, true, true, true, true],
        });
        found[key] = value;
        heard(json!({ "silence": found }))
    };
    let far = routes(json!([0, 99]), json!([0]));
    let beyond = routes(json!([0, 1]), json!([2]));
    for row in [
        asked(json!({"route": [1, far]})),
        asked(json!({"route": [1, beyond]})),
        asked(json!({"enter": [1, [], far]})),
        asked(json!({"enter": [1, [], beyond]})),
        asked(json!({"enter": [1, [[0, 4]], routes(json!([0, 1]), json!([0]))]})),
        asked(json!({"drain": [1, [[0, 99]], routes(json!([0, 1]), json!([0]))]})),
        asked(json!({"drain": [1, [[2, 2]], routes(json!([0, 1]), json!([0]))]})),
        asked(json!({"dark": [1, {"directed": false, "circuits": [[0, 4, 0]]}]})),
        asked(json!({"light": [1, {"directed": false, "circuits": [[0, 1, 2]]}]})),
        found("routes", far.clone()),
        found("drained", json!([[0, 99]])),
        found("lit", json!({"directed": true, "circuits": [[0, 99, 0]]})),
        found("works", json!([true])),
        heard(json!({"port_down": [4, 0]})),
        heard(json!({"port_up": [0, 2]})),
        heard(json!({"demand": [[8, 0, 5]]})),
        heard(json!({"demand": [[0, 4, 5]]})),
    ] {
        let said = unfit(std::slice::from_ref(&row));
        assert!(said.starts_with("line 5: "), "{row}: {said}");
    }
    assert_eq!(
        unfit(&[asked(json!({"enter": [1, [], far]}))]),
        "line 5: action.route of racks 0 and 99 = over [0, 99] on planes [0]: \
         racks are 0 to 3, planes 0 to 1; join racks that exist"
    );
    let fine = asked(json!({"enter": [1, [[0, 3]], routes(json!([0, 3, 1]), json!([1, 0]))]}));
    assert_eq!(
        log(&[fine, found("drained", json!([[0, 3]]))]).check(),
        Ok(())
    );
}

#[test]
fn paths_that_lead_nowhere_are_refused_as_they_are_read() {
    for (racks, planes, said) in [
        (
            json!([]),
            json!([]),
            "routes[0].racks = []: a path visits two",
        ),
        (
            json!([3]),
            json!([]),
            "routes[0].racks = [3]: a path visits two",
        ),
        (
            json!([0, 1, 0]),
            json!([0, 0]),
            "routes[0].racks = [0, 1, 0]: visits a rack twice",
        ),
        (
            json!([0, 1]),
            json!([0, 1]),
            "routes[0].planes = [0, 1]: 2 racks in a row have 1 circuits",
        ),
    ] {
        let routes = json!({"directed": false, "routes": [{"racks": racks, "planes": planes}]});
        let line = asked(json!({"route": [1, routes]})).to_string();
        let text = text().replace(r#"{"at_ps":0,"input":"tick"}"#, &line);
        let found = refused(&text);
        assert!(found.starts_with("line 2: action"), "{found}");
        assert!(found.contains(said), "{found}");
    }
}

/// The actions of a controller that do not depend on its policy's decisions.
#[test]
fn lines_that_do_not_fit_each_other_are_refused() {
    let dark = |step: u64| asked(json!({"dark": [step, {"directed": false, "circuits": []}]}));
    let at = |s: i64, input: Value| json!({"at_ps": Time::S.0 * s, "input": input});
    for (rows, said) in [
        (
            vec![at(0, json!("tick"))],
            "line 5: at_ps = 0: the line before it is of 1 s",
        ),
        (
            vec![json!({"at_ps": i64::MAX, "input": "tick"})],
            "line 5: at_ps = 9223372036854775807: later than 4604486018427387903",
        ),
        (
            // A decision is due at 2 s and every second: 1,000 intervals may pass, but not 1,001.
            vec![at(1_003, json!("tick"))],
            "line 5: at_ps = 1003000000000000: the controller must get a tick at 2 s",
        ),
        (
            vec![json!({"at_ps": Time::S.0 + 1, "action": "measure"})],
            "line 5: at_ps = 1000000000001: it answers the input at 1 s",
        ),
        (
            vec![asked(json!({"wake_at": 5}))],
            "line 5: action.wake_at = 5: 1 s has passed",
        ),
        (
            vec![dark(2)],
            "line 5: action = step 2: the next step has number 1",
        ),
        (
            vec![
                json!({"at_ps": Time::S.0, "host": "silent"}),
                at(2, json!("tick")),
            ],
            "line 6: input = here: the controller is silent",
        ),
    ] {
        let found = unfit(&rows);
        assert!(found.starts_with(said), "{found}");
    }
    assert_eq!(log(&[at(1_002, json!("tick"))]).check(), Ok(()));
    // With another interval, the first wake shows the difference.
    let mut slower = log(&[]);
    slower.header.timing.interval = Time::S * 2;
    assert_eq!(
        slower.check().unwrap_err().to_string(),
        "line 3: action.wake_at = wake at 1 s: after 0 ps and an interval of 2 s \
         the first tick is at 2 s; record the run again"
    );
}

/// The ends of a bidirectional circuit are equivalent.
#[test]
fn circuits_of_both_directions_are_read_from_either_end() {
    let circuits = |rows: Value| json!({"light": [1, {"directed": false, "circuits": rows}]});
    let (there, back) = (
        log(&[asked(circuits(json!([[0, 1, 1]])))]),
        log(&[asked(circuits(json!([[1, 0, 1]])))]),
    );
    assert_eq!(there, back);
}
