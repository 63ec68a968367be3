//! Byte and packet counters of the interfaces of a namespace.

use super::namespace::within;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// The counters of one interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received; with segmentation offload a packet can be 64 KB long.
    pub rx_packets: u64,
    /// Packets that the interface dropped on receipt.
    pub rx_dropped: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets that the interface dropped instead of sending them, because a queue or ring was
    /// full.
    pub tx_dropped: u64,
}

/// The counters of every interface of a namespace, by interface name.
///
/// # Errors
/// If the namespace cannot be entered.
pub fn read(namespace: &Path) -> io::Result<BTreeMap<String, Counters>> {
    let text = within(namespace, || {
        fs::read_to_string("/proc/thread-self/net/dev")
    })?;
    Ok(parse(&text))
}

/// Parses `/proc/net/dev`: a name, eight columns for received and eight for sent data.
fn parse(text: &str) -> BTreeMap<String, Counters> {
    let rows = text.lines().filter_map(|line| line.split_once(':'));
    rows.filter_map(|(name, columns)| {
        let columns: Option<Vec<u64>> =
            columns.split_whitespace().map(|c| c.parse().ok()).collect();
        let columns = columns.filter(|columns| columns.len() >= 12)?;
        let counters = Counters {
            rx_bytes: columns[0],
            rx_packets: columns[1],
            rx_dropped: columns[3],
            tx_bytes: columns[8],
            tx_packets: columns[9],
            tx_dropped: columns[11],
        };
        Some((name.trim().to_owned(), counters))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_by_their_place() {
        let text =
            "Inter-|   Receive                                                |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n  \
            eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        let found = parse(text);
        let expected = Counters {
            rx_bytes: 1,
            rx_packets: 2,
            rx_dropped: 4,
            tx_bytes: 9,
            tx_packets: 10,
            tx_dropped: 12,
        };
        assert_eq!(found, BTreeMap::from([("eth0".to_owned(), expected)]));
    }
}
