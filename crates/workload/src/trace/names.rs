//! Names and addresses of hosts in a trace, and a file that states the server of each.
//!
//! The file has a heading and two comma-separated columns: `host,number`, with servers numbered
//! from 0, or `host,rack`. With racks, the first rack in the file is rack 0, and its hosts are its
//! servers, both in the order of the file.

use crate::text::{self, rows, Field, Row, TextError};
use lightloom_engine::Cluster;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Titles of the column of names.
const NAMES: [&str; 5] = ["host", "address", "ip", "name", "server"];
/// Titles of the column of racks.
const RACKS: [&str; 3] = ["rack", "tor", "node"];
const NUMBER: &str = "number";
const HEADING: &str = "begin with the heading host,number or host,rack";

/// The server of each name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNames {
    /// The name of its file in messages.
    file: String,
    numbers: BTreeMap<String, u32>,
}

/// The columns that are used, and the content of the second one.
struct Layout {
    name: usize,
    place: usize,
    by_rack: bool,
    width: usize,
}

impl HostNames {
    /// Reads the file of that path, for the servers of `cluster`.
    ///
    /// # Errors
    /// With line and column of the first error.
    pub fn load(path: &str, cluster: &Cluster) -> Result<HostNames, TextError> {
        HostNames::read(&text::load(path)?, path, cluster)
    }

    /// Reads text; `file` is its name in messages.
    ///
    /// # Errors
    /// With line and column of the first error.
    pub fn read(text: &str, file: &str, cluster: &Cluster) -> Result<HostNames, TextError> {
        let mut rows = rows(file, text);
        let first = rows.next();
        let heading = first.ok_or_else(|| TextError::whole(file, "is empty", HEADING))?;
        let layout = layout(heading)?;
        let mut found = HostNames {
            file: file.to_owned(),
            numbers: BTreeMap::new(),
        };
        let mut racks = Racks::default();
        for row in rows {
            let cells: Vec<Field> = row.cells().collect();
            if cells.len() != layout.width {
                let problem = format!("has {} values, the heading {}", cells.len(), layout.width);
                return Err(row.error(problem, "give one value for each column"));
            }
            let (name, place) = (cells[layout.name], cells[layout.place]);
            let number = match layout.by_rack {
                true => racks.next(place, cluster)?,
                false => place.whole(NUMBER, 0..=u64::from(cluster.hosts() - 1))? as u32,
            };
            found.add(name, number)?;
        }
        match found.numbers.is_empty() {
            true => Err(TextError::whole(
                file,
                "names no host",
                "add a line for each",
            )),
            false => Ok(found),
        }
    }

    fn add(&mut self, name: Field, number: u32) -> Result<(), TextError> {
        let key = canonical(name.unquoted());
        if key.is_empty() {
            return Err(name.error("no name", "give every line a host"));
        }
        if key.parse::<IpAddr>().is_err() && is_prefix(&key) {
            let problem = format!("{} is an address prefix of several hosts", name.shown());
            return Err(name.error(problem, "give each address a line of its own"));
        }
        match self.numbers.insert(key, number) {
            None => Ok(()),
            Some(_) => Err(name.error(
                format!("{} is there twice", name.shown()),
                "list every host once",
            )),
        }
    }

    /// The server of a name or an address; `None` if the file does not have it.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(&canonical(name)).copied()
    }

    /// The server that a field of a trace names.
    pub(super) fn of(&self, field: Field, what: &str) -> Result<u32, TextError> {
        self.number(field.unquoted()).ok_or_else(|| {
            let problem = format!(
                "{what} is {}, which {} does not name",
                field.shown(),
                self.file
            );
            field.error(problem, "add a line for it there, or correct it")
        })
    }
}

/// Racks in the order in which they occur, each with the number of servers so far.
#[derive(Default)]
struct Racks(BTreeMap<String, (u32, u32)>);

impl Racks {
    /// The number of the next server of a rack.
    fn next(&mut self, place: Field, cluster: &Cluster) -> Result<u32, TextError> {
        let name = place.unquoted();
        if name.is_empty() {
            return Err(place.error("no rack", "give every host its rack"));
        }
        let known = self.0.len() as u32;
        let (rack, servers) = self.0.entry(name.to_owned()).or_insert((known, 0));
        if *rack >= cluster.racks {
            let problem = format!(
                "{} is rack {} of the file, the cluster has {}",
                place.shown(),
                *rack + 1,
                cluster.racks
            );
            return Err(place.error(problem, "correct it, or raise cluster.racks"));
        }
        if *servers >= cluster.servers_per_rack {
            let problem = format!(
                "{} has more hosts than the {} servers of a rack",
                place.shown(),
                cluster.servers_per_rack
            );
            return Err(place.error(problem, "correct it, or raise cluster.servers_per_rack"));
        }
        *servers += 1;
        Ok(*rack * cluster.servers_per_rack + *servers - 1)
    }
}

fn layout(heading: Row) -> Result<Layout, TextError> {
    let titles: Vec<String> = heading
        .cells()
        .map(|cell| cell.unquoted().to_ascii_lowercase())
        .collect();
    let at = |known: &[&str]| {
        let mut names = known.iter();
        names.find_map(|name| titles.iter().position(|title| title == name))
    };
    let (number, rack) = (at(&[NUMBER]), at(&RACKS));
    match (at(&NAMES), number.or(rack)) {
        (Some(name), Some(place)) => Ok(Layout {
            name,
            place,
            by_rack: number.is_none(),
            width: titles.len(),
        }),
        _ => Err(heading.error("has no columns of hosts and their places", HEADING)),
    }
}

/// One spelling of an address; other names are unchanged.
fn canonical(name: &str) -> String {
    match name.parse::<IpAddr>() {
        Ok(address) => address.to_string(),
        Err(_) => name.to_owned(),
    }
}

/// Whether a text is an address, a slash and a length.
fn is_prefix(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(address, _)| address.parse::<IpAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::tests::cluster;

    fn read(text: &str) -> Result<HostNames, String> {
        HostNames::read(text, "h.csv", &cluster(2, 3)).map_err(|e| e.to_string())
    }

    fn bad(text: &str) -> String {
        read(text).unwrap_err()
    }

    #[test]
    fn numbers_are_those_of_servers() {
        let found = read("name,site,number\nweb,x,4\n2001:DB8::1,x,0\nalias,y,4\n").unwrap();
        let of = |name| found.number(name);
        assert_eq!(
            [of("web"), of("alias"), of("WEB")],
            [Some(4), Some(4), None]
        );
        assert_eq!(of("2001:db8:0::1"), Some(0));
    }

    #[test]
    fn hosts_of_a_rack_are_its_servers_in_order() {
        let found = read("host,rack\na,r9\nb,r1\nc,r9\n10.0.0.1,r1\n").unwrap();
        let numbers = ["a", "c", "b", "10.0.0.1"].map(|name| found.number(name));
        assert_eq!(numbers, [Some(0), Some(1), Some(3), Some(4)]);
    }

    #[test]
    fn errors_name_line_column_and_remedy() {
        assert_eq!(
            bad("host,rack\na,r\nb,r\nc,r\nd,r\n"),
            "h.csv, line 5, column 3: `r` has more hosts than the 3 servers of a rack; \
             correct it, or raise cluster.servers_per_rack"
        );
        assert!(bad("host,rack\na,r\nb,s\nc,t\n").contains("line 4, column 3: `t` is rack 3"));
        assert!(bad("host,number\na,6\n").contains("number is `6`, outside 0 to 5"));
        assert!(bad("host,number\na,1\na,2\n").contains("line 3, column 1: `a` is there twice"));
        assert!(bad("host,rack\n10.0.0.0/24,r\n").contains("is an address prefix"));
        assert!(bad("a,0\n").ends_with(HEADING));
        assert!(bad("host,number\n").contains("names no host; add a line for each"));
        assert!(bad("host,number\na\n").contains("has 1 values, the heading 2"));
        assert!(bad("host,rack\na,\n").contains("no rack; give every host its rack"));
        assert!(bad("").ends_with(HEADING));
    }
}
