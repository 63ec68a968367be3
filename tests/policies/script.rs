//! Reads the scripts of this folder ([`README.md`]), and runs one on a host.

use lightloom_control::controller::{Controller, Kind, Timing};
use lightloom_control::demand::{Estimation, Estimator, Queue, Report};
use lightloom_control::hardware::Hardware;
use lightloom_control::host::{Driver, Failure, Happening, Host, UnderWay};
use lightloom_control::log::Entry;
use lightloom_control::order::Order;
use lightloom_control::policies::find;
use lightloom_control::policy::Policy;
use lightloom_control::words::in_words;
use lightloom_engine::{Bytes, Rate, Time};
use serde::de::DeserializeOwned;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A script.
pub struct Script {
    pub name: String,
    pub hardware: Hardware,
    keys: BTreeMap<String, String>,
    pub given: Vec<(Time, Happening)>,
    /// Time, and the action in words.
    expected: Vec<(Time, String)>,
}

const KINDS: [(&str, Kind); 6] = [
    ("drain", Kind::Drain),
    ("dark", Kind::Dark),
    ("light", Kind::Light),
    ("route", Kind::Route),
    ("enter", Kind::Enter),
    ("follow", Kind::Follow),
];

/// All scripts, by name.
pub fn all() -> Vec<Script> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/policies");
    let files = std::fs::read_dir(folder).expect("the folder of this file");
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "txt"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Script::read(path)).collect()
}

fn quantity<T: DeserializeOwned>(text: &str) -> T {
    let read = serde_json::from_value(json!(text.trim()));
    read.unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// `3 racks` → 3.
fn number(text: &str) -> u32 {
    let word = text.trim().split(' ').next().unwrap_or_default();
    word.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// `1.01 s  the rest`; a line that begins with a space is of the time before.
fn timed(line: &str, before: Time) -> (Time, &str) {
    if line.starts_with(' ') {
        return (before, line.trim());
    }
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default();
    let (value, unit) = (word(), word());
    (quantity(&format!("{value} {unit}")), word().trim())
}

fn kind(word: &str) -> Kind {
    let known = KINDS.iter().find(|(name, _)| *name == word);
    known
        .unwrap_or_else(|| panic!("no step is called {word}"))
        .1
}

fn happening(text: &str) -> Happening {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "demand" => Happening::Demand(report(rest)),
        "silent" => Happening::Silent(UnderWay::Lost),
        "hears" => Happening::Hears,
        "port" => {
            let (port, state) = rest.split_once(' ').expect("a port and its state");
            let (rack, plane) = port.split_once('/').unwrap_or((port, "0"));
            match state {
                "down" => Happening::PortDown(number(rack), number(plane)),
                "up" => Happening::PortUp(number(rack), number(plane)),
                other => panic!("a port is down or up, not {other}"),
            }
        }
        other => panic!("nothing is called {other}"),
    }
}

/// `0>1 100 MB, 2>3 50 MB`
fn report(text: &str) -> Report {
    let queue = |text: &str| {
        let (pair, bytes) = text.trim().split_once(' ').expect("a pair and bytes");
        let (from, to) = pair.split_once('>').expect("two racks");
        Queue {
            from: number(from),
            to: number(to),
            bytes: quantity::<Bytes>(bytes).0,
        }
    };
    Report {
        queues: text.split(',').map(queue).collect(),
    }
}

impl Script {
    fn read(path: &Path) -> Script {
        let text = std::fs::read_to_string(path).expect("a script");
        let lines = text
            .lines()
            .filter(|l| !l.starts_with('#') && !l.trim().is_empty());
        let mut sections = [Vec::new(), Vec::new(), Vec::new()];
        let mut section = 0;
        for line in lines {
            match line {
                "given" => section = 1,
                "expected" => section = 2,
                _ => sections[section].push(line),
            }
        }
        let [keys, given, expected] = sections;
        let key = |line: &str| {
            let (key, value) = line.split_once(' ').expect("a key and its value");
            (key.to_owned(), value.trim().to_owned())
        };
        let keys: BTreeMap<String, String> = keys.into_iter().map(key).collect();
        let mut switch = keys["switch"].split(',');
        let mut part = || switch.next().expect("racks, planes, rate");
        let (racks, planes, rate) = (number(part()), number(part()), quantity::<Rate>(part()));
        let in_time = |lines: Vec<&str>| {
            let mut now = Time::ZERO;
            let line = |line| {
                let (at, what) = timed(line, now);
                now = at;
                (at, what.to_owned())
            };
            lines.into_iter().map(line).collect::<Vec<_>>()
        };
        Script {
            name: path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned(),
            hardware: Hardware::new(racks, planes, rate),
            keys,
            given: in_time(given)
                .into_iter()
                .map(|(at, what)| (at, happening(&what)))
                .collect(),
            expected: in_time(expected),
        }
    }

    /// A time that may be given; 0 s otherwise.
    #[allow(dead_code)]
    pub fn time(&self, key: &str) -> Time {
        self.keys.get(key).map_or(Time::ZERO, |text| quantity(text))
    }

    /// What each step takes, by kind.
    #[allow(dead_code)]
    pub fn takes(&self) -> Vec<(Kind, Vec<Option<Time>>)> {
        let time = |text: &str| (text.trim() != "at once").then(|| quantity(text));
        let given = KINDS.iter().filter_map(|(name, kind)| {
            let times = self.keys.get(*name)?.split(',').map(time).collect();
            Some((*kind, times))
        });
        given.collect()
    }

    /// The policy's table.
    pub fn table(&self) -> Value {
        serde_json::from_str(&self.keys["policy"]).expect("a table")
    }

    /// What decides.
    pub fn policy(&self) -> Box<dyn Policy> {
        let mut table = self.table();
        let name = table
            .as_object_mut()
            .and_then(|t| t.remove("kind"))
            .expect("a kind");
        let entry = find(name.as_str().expect("a name"), "policy").expect("registered");
        (entry.build)(&table, &self.hardware).expect("a table that fits")
    }

    /// When it decides, and how long it takes.
    pub fn timing(&self) -> Timing {
        Timing {
            interval: self.time("interval"),
            computation_delay: self.time("computing"),
        }
    }

    /// The order of a change, if not the policy's own.
    pub fn order(&self) -> Option<Order> {
        self.keys.get("order").map(|name| quantity(name))
    }

    /// The step that fails.
    pub fn fails(&self) -> Option<Failure> {
        let (step, nth) = self.keys.get("fails")?.split_once(' ')?;
        Some(Failure {
            kind: kind(step),
            nth: number(nth) as usize - 1,
            why: "as the script says".to_owned(),
        })
    }

    /// Runs the script with a driver, and compares what is asked for.
    #[allow(dead_code)]
    pub fn run(&self, driver: impl Driver) {
        let estimator = Estimator::new(Estimation::plain(self.hardware.racks, 1));
        let controller = Controller::new(self.policy(), self.hardware, self.timing(), estimator);
        let controller = match self.order() {
            Some(order) => controller.with_order(order),
            None => controller,
        };
        let mut host = Host::new(controller, driver);
        for (at, happening) in &self.given {
            host.plan_for(*at, happening.clone());
        }
        { self.fails().into_iter() }.for_each(|failure| host.fail(failure));
        host.run(self.time("until")).expect("a policy that decides");
        let said = |e: &Entry| Some((e.at, in_words(e.action()?)));
        self.compare(&host.log().iter().filter_map(said).collect::<Vec<_>>());
    }

    /// Whether these actions are those that the script expects.
    pub fn compare(&self, actions: &[(Time, String)]) {
        let (asked, expected) = (as_table(actions), as_table(&self.expected));
        assert!(
            asked == expected,
            "{}: asked for\n{asked}\nnot\n{expected}",
            self.name
        );
    }
}

fn as_table(actions: &[(Time, String)]) -> String {
    let row = |(at, words): &(Time, String)| format!("{:<10}{words}\n", at.to_string());
    actions.iter().map(row).collect()
}
