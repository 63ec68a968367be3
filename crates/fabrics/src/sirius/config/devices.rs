//! Sirius with devices: the keys of the table that the devices determine, and further derived
//! values.

use super::SiriusConfig;
use crate::devices::{explained, lay, Following, AT};
use crate::sirius::schedule::Schedule;
use lightloom_engine::{config, Bytes, Cluster, Length, Refusal};
use lightloom_photonics::{Derived, Design};
use serde_json::{json, Value};

/// The table with the values that follow from its devices, if it names any.
///
/// # Errors
/// For the part of the devices that makes the design impossible, for a key that contradicts them,
/// or if the devices lack a property that the fabric needs.
pub(crate) fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
    if table.get("devices").is_none_or(Value::is_null) {
        return Ok(table.clone());
    }
    let config = config::read::<SiriusConfig>(table, "fabric")?;
    let Some(devices) = config.devices else {
        return Ok(table.clone());
    };
    let mut follows = vec![Following::new(
        "channel_rate",
        devices.0.channel_rate,
        "channel_rate",
    )];
    let laid = lay::<SiriusConfig>(table, &follows)?;
    let config = config::read::<SiriusConfig>(&laid, "fabric")?;
    let parts = config
        .parts(cluster, asked_uplinks(table))
        .map_err(|refusal| explained(refusal, table, &follows))?;
    follows.extend(config.following(&parts)?);
    let mut laid = lay::<SiriusConfig>(table, &follows)?;
    laid["devices"] = serde_json::to_value(parts.design).expect("configurations are plain data");
    let config = config::read::<SiriusConfig>(&laid, "fabric")?;
    config
        .derive(cluster)
        .map_err(|refusal| explained(refusal, table, &follows))?;
    Ok(laid)
}

/// The number of uplinks that the table of the devices contains.
fn asked_uplinks(table: &Value) -> Option<u64> {
    table["devices"]["uplinks"].as_u64()
}

/// A design in its fabric, and its derived values.
pub(crate) struct Parts {
    design: Design,
    derived: Derived,
}

impl SiriusConfig {
    /// The devices in this fabric; `asked` is the number of uplinks in their own table.
    fn parts(&self, cluster: &Cluster, asked: Option<u64>) -> Result<Parts, Refusal> {
        let named = self.devices.expect("the table names devices");
        let base = self.base_uplinks(cluster)?;
        let uplinks = self.check_uplinks(cluster, base)?;
        if let Some(asked) = asked.filter(|&asked| asked != u64::from(uplinks)) {
            let limit = format!("a node of this fabric has {uplinks} (fabric.uplinks)");
            let remedy = "leave it out, or change fabric.uplinks";
            return Err(Refusal::new(format!("{AT}.uplinks"), asked, limit, remedy));
        }
        let schedule = self.schedule(cluster, base, uplinks)?;
        let turn = turn(&schedule);
        let design = Design { uplinks, ..named.0 };
        let derived = design.derive_in(AT, turn)?;
        refuse_reach(&derived, turn)?;
        self.refuse_fibre(&derived)?;
        Ok(Parts { design, derived })
    }

    /// Keys that follow.
    fn following(&self, parts: &Parts) -> Result<Vec<Following>, Refusal> {
        let derived = &parts.derived;
        let longest = derived.guardband.longest();
        Ok(vec![
            Following::new("guardband", derived.guardband.total, longest.key),
            Following::new("slot", derived.slot, "slot"),
            Following::new("cell", self.data(derived)?, "fec"),
            Following::new("codeword_wait", derived.waits, "fec"),
        ])
    }

    /// Data bytes of a cell: its bytes less error correction and header.
    fn data(&self, derived: &Derived) -> Result<Bytes, Refusal> {
        let left = derived.payload_bytes.saturating_sub(self.header.0);
        if left > 0 {
            return Ok(Bytes(left));
        }
        let limit = format!(
            "leaves nothing of the {} B that {AT} leave for data",
            derived.payload_bytes
        );
        let remedy = format!("lower it, or raise {AT}.slot");
        Err(Refusal::new("fabric.header", self.header, limit, remedy))
    }

    /// Refuses fibres that the link budget does not carry.
    fn refuse_fibre(&self, derived: &Derived) -> Result<(), Refusal> {
        let reach = derived.link.reach;
        let fibre = Length::of_delay(self.propagation);
        if fibre <= reach {
            return Ok(());
        }
        let limit = format!("light passes {fibre} of fibre, but {AT} reach {reach}");
        let remedy = format!("lower it, or raise {AT}.link.margin");
        Err(Refusal::new(
            "fabric.propagation",
            self.propagation,
            limit,
            remedy,
        ))
    }

    /// The transceivers that fail together with a shared laser, for a note on failures; `None`
    /// without devices or if no transceivers share a laser.
    pub(crate) fn lasers_that_die(&self, cluster: &Cluster) -> Option<String> {
        self.devices?;
        let share = self.parts(cluster, None).ok()?.derived.link.share;
        if share < 2 {
            return None;
        }
        let uplinks = self.uplinks?;
        let fed = share.min(uplinks);
        let chips = match uplinks.div_ceil(share) {
            1 => "1 chip".to_owned(),
            many => format!("{many} chips"),
        };
        Some(format!(
            ". According to its devices, {fed} transceivers share a laser, with {chips} for the \
             {uplinks} of a node, and fail with it; the spare laser of a bank also fails"
        ))
    }

    /// The values derived from the devices of a resolved table, for its summary; `None` without
    /// devices.
    pub(crate) fn devices_record(&self, cluster: &Cluster) -> Option<Value> {
        self.devices?;
        let Parts { derived, .. } = self.parts(cluster, None).ok()?;
        let link = &derived.link;
        Some(json!({
            "guardband": derived.guardband,
            "slot": derived.slot,
            "overhead": derived.overhead,
            "ports": derived.ports,
            "wavelengths": derived.wavelengths,
            "reach": link.reach,
            "reach_by": link.reach_by,
            "shared_by": link.share,
            "laser_chips": derived.sources,
            "lasers": derived.lasers,
            "crosstalk": derived.crosstalk,
            "penalty": derived.penalty,
            "ber": derived.ber,
            "ber_without_margin": derived.ber_without_margin,
            "error_rate": derived.error_rate,
            "notes": derived.notes,
        }))
    }
}

/// The largest number of ports in use on any grating: a transmitter meets a receiver again after
/// this number of slots. For the idealised rotor, which has no gratings, it is the average number
/// of nodes that an uplink meets.
fn turn(schedule: &Schedule) -> u32 {
    match schedule {
        Schedule::Rotor(rotor) => rotor.nodes.div_ceil(rotor.uplinks),
        Schedule::Gratings(_) => schedule.frame(),
    }
}

/// Refuses gratings that reach fewer nodes than the fabric needs.
fn refuse_reach(derived: &Derived, needed: u32) -> Result<(), Refusal> {
    let ports = derived.ports;
    if ports >= needed {
        return Ok(());
    }
    let limit = format!(
        "an uplink reaches {ports} nodes, one for each port, but {needed} are needed (nodes ÷ \
         uplinks, by fabric.uplink_plan)"
    );
    let remedy = format!("use {needed} ports, more fabric.uplinks, or fewer cluster.racks");
    Err(Refusal::new(
        format!("{AT}.grating.ports"),
        ports,
        limit,
        remedy,
    ))
}
