//! What must hold for any bytes whatever that a reader is given: it reads them,
//! or refuses them in words; it never panics, and what it accepts means the
//! same when it is written down and read again.
//!
//! The fuzz targets run these bodies for as long as one likes; the ordinary
//! tests of `crates/experiment` run them on random and mutated inputs.

use lightloom_engine::{Cluster, Flows, Nic, Rate, Refusal, Time};
use lightloom_experiment::Experiment;
use lightloom_fabrics::REGISTRY;
use lightloom_workload::{arrivals, text, times, trace};
use serde_json::Value;

/// Hosts that traces may name.
const HOSTS: u32 = 50;

/// A trace reader, and the writer of its format.
pub fn trace(format: trace::Format, bytes: &[u8]) {
    let read = |bytes: Vec<u8>| {
        let text = text::decode("trace", bytes)?;
        let lines = text.lines().count();
        trace::read(format, &text, "trace", HOSTS).inspect_err(|e| {
            assert!(e.line <= lines, "line {} of {lines}: {e}", e.line);
        })
    };
    match read(bytes.to_vec()) {
        Err(e) => assert!(!e.problem.is_empty() && !e.remedy.is_empty(), "{e}"),
        Ok(flows) => {
            check_flows(&flows, format);
            // What waits for triggers has no arrivals to write.
            if !flows.after.is_empty() {
                return;
            }
            let written = trace::write(format, &flows, HOSTS).expect("an open-loop trace");
            let again = read(written.clone().into_bytes()).expect("our own writing");
            let rewritten = trace::write(format, &again, HOSTS).expect("an open-loop trace");
            assert_eq!(written, rewritten);
        }
    }
}

fn check_flows(flows: &Flows, format: trace::Format) {
    assert!(!flows.is_empty() && flows.arrival.is_sorted());
    // Flows of size 0 send until the run stops, in htsim's format alone.
    let endless = format == trace::Format::Cm;
    for f in 0..flows.len() {
        let (src, dst) = (flows.src[f].0, flows.dst[f].0);
        assert!(src < HOSTS && dst < HOSTS && src != dst);
        assert!((flows.bytes[f] > 0 || endless) && flows.arrival[f].0 >= 0);
        assert!((flows.group[f] as usize) < flows.groups.len());
    }
}

/// The reader of arrivals.
pub fn arrivals(bytes: &[u8]) {
    let read = |bytes: Vec<u8>| {
        let text = text::decode("arrivals", bytes)?;
        let lines = text.lines().count();
        times::read_times(&text, "arrivals").inspect_err(|e| {
            assert!(e.line <= lines, "line {} of {lines}: {e}", e.line);
        })
    };
    match read(bytes.to_vec()) {
        Err(e) => assert!(!e.problem.is_empty() && !e.remedy.is_empty(), "{e}"),
        Ok(times) => {
            let own = |t: &Time| (0..=arrivals::MAX_ARRIVAL.0).contains(&t.0);
            assert!(!times.is_empty() && times.is_sorted() && times.iter().all(own));
            let lines = times.iter().map(|t| format!("{}\n", t.0));
            let written = "arrival_ps\n".to_owned() + &lines.collect::<String>();
            assert_eq!(read(written.into_bytes()).as_deref(), Ok(&times[..]));
        }
    }
}

/// The reader of experiments, from JSON to a resolved one.
pub fn experiment(bytes: &[u8]) {
    let Ok(mut json) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    hide_files(&mut json);
    let resolved = match Experiment::read(&json).and_then(|e| e.resolve()) {
        Err(refusal) => return says_what(&refusal),
        Ok(resolved) => resolved.to_json(),
    };
    let again = Experiment::read(&resolved).and_then(|e| e.resolve());
    match again {
        Err(refusal) => panic!("resolved, then refused: {refusal}\n{resolved}"),
        Ok(again) => assert_eq!(again.to_json(), resolved),
    }
}

/// Files that an input happens to name (devices, pipes) are not opened.
fn hide_files(json: &mut Value) {
    match json {
        Value::Object(table) => {
            for (key, value) in table.iter_mut() {
                match value {
                    Value::String(path) if key == "trace" || key == "file" => {
                        *path = "no/such/file.csv".to_owned();
                    }
                    other => hide_files(other),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(hide_files),
        _ => {}
    }
}

/// The tables of fabrics: the first byte chooses the fabric and its servers,
/// the rest is the table.
pub fn fabric(bytes: &[u8]) {
    let Some((&first, table)) = bytes.split_first() else {
        return;
    };
    let Ok(table) = serde_json::from_slice::<Value>(table) else {
        return;
    };
    let (kind, shape) = (
        first as usize % REGISTRY.len(),
        first as usize / REGISTRY.len(),
    );
    let entry = &REGISTRY[kind];
    let cluster = [cluster(128, 24, 400), cluster(16, 1, 50), cluster(7, 3, 90)][shape % 3];
    match (entry.resolve)(&table, &cluster) {
        Err(refusal) => {
            says_what(&refusal);
            let own = refusal.key.starts_with("fabric") || refusal.key.starts_with("cluster.");
            assert!(own, "{refusal}");
        }
        Ok(resolved) => assert_eq!((entry.resolve)(&resolved, &cluster), Ok(resolved)),
    }
}

fn cluster(racks: u32, servers_per_rack: u32, rack_gbps: u64) -> Cluster {
    Cluster {
        racks,
        servers_per_rack,
        server_rate: Rate(rack_gbps * Rate::GBPS.0 / servers_per_rack as u64),
        nic: Nic::Uncapped,
    }
}

fn says_what(refusal: &Refusal) {
    let empty = refusal.limit.is_empty() || refusal.remedy.is_empty();
    assert!(
        !empty && !refusal.value.is_empty(),
        "says too little: {refusal:?}"
    );
}
