//! The page of the documentation that has this table.

use crate::rows::{self, variants, Row};
use crate::scenario::{Case, Verdict};
use lightloom_fabrics::{find, REGISTRY};
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "# Results of every fabric for simple traffic

A test runs simple traffic on every fabric and compares the completion times with the bounds below,
which follow from rates, sizes and delays alone. If a key selects another kernel or rule, the fabric
has a second table with the scenarios that apply.

Unless a case states otherwise, there are 8 racks of 2 servers (16 nodes for LIONS and the flattened
butterfly), each server has a link of 10 Gb/s, and the time is that of the longest flow. The last
column explains bounds that are more than 1 % apart.

";

/// Compares the page, or writes it.
pub fn check() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fabrics/capabilities.md");
    let page = page();
    if std::env::var_os("LIGHTLOOM_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/fabrics/capabilities.md is not this table; LIGHTLOOM_BLESS=1 writes it"
    );
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for entry in REGISTRY {
        section(&mut page, entry.title, rows::of(entry.kind));
    }
    for variant in variants::all() {
        let entry = find(variant.kind).expect("registered");
        let title = format!("{}, `{}`", entry.title, variant.title);
        section(&mut page, &title, variant.row);
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

fn section(page: &mut String, title: &str, row: Row) {
    let heading = "| scenario | [ms] | computed as | why not within 1 % |\n|---|---|---|---|";
    writeln!(page, "## {title}\n\n{heading}").expect("a string");
    for (scenario, verdict) in row {
        match verdict {
            Verdict::DoesNotApply(why) => {
                writeln!(page, "| {scenario} | – | does not apply: {why} | |").expect("a string");
            }
            Verdict::Takes(cases) => cases.iter().for_each(|case| line(page, scenario, case)),
        }
    }
    page.push('\n');
}

fn line(page: &mut String, scenario: &str, case: &Case) {
    let (middle, half) = (
        (case.least + case.most) / 2.0,
        (case.most - case.least) / 2.0,
    );
    let within = half <= 0.0101 * middle;
    let gbps = case.cluster.server_rate.0 / 1_000_000_000;
    let rate = match gbps {
        10 => String::new(),
        _ => format!(", {gbps} Gb/s"),
    };
    let time = match within {
        true => format!("{middle:.4}"),
        false => format!("{:.4} to {:.4}", case.least, case.most),
    };
    writeln!(
        page,
        "| {scenario}{rate} | {time} | {} | {} |",
        case.formula, case.bound
    )
    .expect("a string");
}
