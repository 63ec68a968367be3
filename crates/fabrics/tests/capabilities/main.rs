//! The results of every fabric for simple traffic, compared with arithmetic: a row for each fabric
//! of the registry, a case for each scenario. A new fabric in the registry needs a row: the test
//! fails until it has one. A variant, a fabric under another key, has the scenarios that apply to
//! it. Expected values are computed in `rows/`, from rates, sizes and times alone, never by a
//! kernel.
//!
//! `docs/fabrics/capabilities.md` is this table. `LIGHTLOOM_BLESS=1 cargo test -p
//! lightloom-fabrics --test capabilities` writes it.

mod document;
mod rows;
mod scenario;

use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::{outages, Flows, HostId, Io, Refusal, Time};
use lightloom_fabrics::{find, Site, REGISTRY};
use scenario::{Case, Verdict, SCENARIOS};

#[test]
fn every_fabric_has_a_row_with_every_scenario() {
    for entry in REGISTRY {
        let row = rows::of(entry.kind);
        let named: Vec<&str> = row.iter().map(|(scenario, _)| *scenario).collect();
        assert_eq!(named, SCENARIOS, "{}", entry.kind);
    }
}

#[test]
fn every_case_takes_what_arithmetic_says() {
    let fabrics = REGISTRY.iter().map(|e| (e.kind, "", rows::of(e.kind)));
    let variants = rows::variants::all().into_iter();
    let rows: Vec<_> = fabrics
        .chain(variants.map(|v| (v.kind, v.title, v.row)))
        .collect();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let each = rows.into_iter();
        let checked: Vec<_> = each
            .map(|(kind, title, row)| scope.spawn(move || wrong_cases(kind, title, row)))
            .collect();
        let joined = checked
            .into_iter()
            .flat_map(|t| t.join().expect("no panic"));
        joined.collect()
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_page_is_this_table() {
    document::check();
}

/// The cases of a fabric whose result is out of bounds, as text.
fn wrong_cases(kind: &'static str, title: &str, row: rows::Row) -> Vec<String> {
    let mut wrong = Vec::new();
    for (scenario, verdict) in row {
        let Verdict::Takes(cases) = verdict else {
            continue;
        };
        for case in cases {
            let (least, most) = (case.least, case.most);
            let took = took(kind, &case).map(|took| took.as_secs_f64() * 1e3);
            if !took.as_ref().is_ok_and(|ms| (least..=most).contains(ms)) {
                wrong.push(format!(
                    "{kind} {title}, {scenario}: {took:?}, not {least} to {most} ms ({})\n  {}",
                    case.formula, case.table
                ));
            }
        }
    }
    wrong
}

/// The time that the flow of the case takes, or the longest flow; or the reason why the case cannot
/// be run.
fn took(kind: &str, case: &Case) -> Result<Time, String> {
    let mut flows = Flows::new();
    for &(src, dst, bytes, at) in &case.flows {
        flows.push(HostId(src), HostId(dst), bytes, at);
    }
    let entry = find(kind).expect("registered");
    let site = Site {
        cluster: &case.cluster,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let refused = |refusal: Refusal| refusal.to_string();
    let table = (entry.resolve)(&case.table, &case.cluster).map_err(refused)?;
    let mut fabric = (entry.build)(&table, &site).map_err(refused)?;
    let mut io = Io::new(flows.clone());
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S * 5,
        sample: None,
        faults: outages::commands(&case.faults),
    };
    run(&mut *fabric, &mut io, &plan, &mut Silent).map_err(|e| format!("{e:?}"))?;
    if io.ledger.flows_completed < flows.len() as u64 {
        return Err(format!("not all delivered: {:?}", io.ledger));
    }
    let took = |f: usize| io.flows.finish[f] - io.flows.arrival[f];
    Ok(match case.flow {
        Some(flow) => took(flow),
        None => (0..flows.len()).map(took).max().expect("flows"),
    })
}
