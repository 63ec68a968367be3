//! The interface of a fabric to the rest of Lightloom: a [`FabricConfig`], its table, and an
//! [`Entry`] of the [registry](crate::registry).

use crate::doubts::{Doubts, Ran};
use crate::emulation::Emulation;
use crate::facts::Facts;
use crate::findings::{Ended, Finding};
use crate::physics::{Obeyed, Physics};
use lightloom_control::policies::library::Library;
use lightloom_engine::{config, Cluster, Fabric, Flows, Refusal};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;

/// The inputs from which a fabric is built.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The servers to connect.
    pub cluster: &'a Cluster,
    /// The flows that will be offered, so that state can be laid out for them.
    pub flows: &'a Flows,
    /// Seed of the fabric's random streams.
    pub seed: u64,
    /// Threads it may use; the results do not depend on it.
    pub threads: usize,
    /// The policies in files of users.
    pub library: Option<&'a dyn Library>,
}

#[cfg(test)]
impl<'a> Site<'a> {
    /// The inputs of most tests: seed 1, one thread, no policies of users.
    pub fn plain(cluster: &'a Cluster, flows: &'a Flows) -> Site<'a> {
        Site {
            cluster,
            flows,
            seed: 1,
            threads: 1,
            library: None,
        }
    }
}

/// A fabric's own table in the experiment.
///
/// Implementors derive `Deserialize` with `deny_unknown_fields` and `JsonSchema`. `lightloom
/// explain` prints their doc comments, so each states the parameter, its unit and its source.
pub trait FabricConfig: DeserializeOwned + Serialize + JsonSchema {
    /// Adds to the table the keys that follow from the devices that it names; a fabric without
    /// devices returns the table unchanged.
    ///
    /// # Errors
    /// If devices are impossible, or if keys contradict them.
    fn with_devices(table: &Value, _cluster: &Cluster) -> Result<Value, Refusal> {
        Ok(table.clone())
    }

    /// Sets the values that depend on the cluster and refuses a table that cannot run. Keys in a
    /// [`Refusal`] begin with `fabric.`.
    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal>;

    /// The keys by which this table follows the physics of an experiment, and the parts of the
    /// physics that the fabric does not model. The keys have lower priority than the keys of the
    /// table and of its preset; this table may lack them.
    fn obey(&self, physics: &Physics, cluster: &Cluster) -> Obeyed;

    /// The idealised properties of a resolved configuration, a few words each: `no propagation`.
    fn ideal(&self) -> Vec<&'static str>;

    /// Whether the results of a resolved configuration depend on the seed, because the fabric, or
    /// a policy in a user's file, may draw at random: paths, phases, losses.
    fn draws(&self) -> bool {
        false
    }

    /// The assumptions of the model about failures: their detection, its delay, and the parts that
    /// do not fail. Empty if it models none.
    fn failures(&self, _cluster: &Cluster) -> String {
        String::new()
    }

    /// The keys that state the number of switches in each tier above the racks, from the lowest
    /// tier; empty unless the fabric is a network of such tiers.
    fn switch_tiers(&self) -> &'static [&'static str] {
        &[]
    }

    /// Values of a resolved configuration that limit its results, each with its remedy; none unless
    /// the fabric computes them.
    fn findings(&self, _cluster: &Cluster) -> Vec<Finding> {
        Vec::new()
    }

    /// Values of a resolved configuration that limit the results of a run that ended; none unless
    /// the fabric computes them.
    fn findings_of_run(&self, _ended: &Ended) -> Vec<Finding> {
        Vec::new()
    }

    /// Doubts about the figures of a run that ended; none unless the fabric derives them.
    fn doubts(&self, _cluster: &Cluster, _run: &Ran) -> Doubts {
        Doubts::default()
    }

    /// Builds the fabric from a resolved configuration.
    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal>;

    /// Approximate memory of the fabric's state without failures [B].
    fn memory(&self, site: &Site) -> u64;

    /// Approximate memory that is added after the first failure [B].
    fn memory_of_failures(&self, _site: &Site) -> u64 {
        0
    }

    /// The values that follow from a resolved configuration before a run; empty unless the fabric
    /// computes some.
    fn facts(&self, _cluster: &Cluster) -> Facts {
        Facts::default()
    }

    /// The values that follow from a resolved configuration and from the flows that will be
    /// offered; those of `facts` unless the fabric depends on the flows.
    fn facts_for(&self, site: &Site) -> Facts {
        self.facts(site.cluster)
    }
}

/// A named configuration.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The value of `preset` that selects it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The table as JSON.
    pub table: &'static str,
}

/// Approximate memory of a fabric's state [B].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Memory without failures.
    pub sound: u64,
    /// Memory that is added after the first failure.
    pub of_failures: u64,
}

/// `drops` of a fabric whose packets are lost in dark circuits or at failures.
pub const LOST: &str = "packets lost and sent again";

/// A fabric, or the refusal of its table.
pub type Built = Result<Box<dyn Fabric>, Refusal>;

/// A fabric in the registry.
pub struct Entry {
    /// The value of `kind` that selects it.
    pub kind: &'static str,
    /// A heading.
    pub title: &'static str,
    /// Its name in a sentence, as its paper writes it; its kind if it has no other.
    pub name: &'static str,
    /// The packets or cells that `drops` of its summary counts.
    pub drops: &'static str,
    /// Whether its circuits follow a schedule that connects pairs of racks in turn. Otherwise, a
    /// pair without a circuit has only the electrical network, if there is one.
    pub in_turn: bool,
    /// The reason why `circuit_share` of its summary is always null although its traffic crosses
    /// optics; empty for other fabrics.
    pub no_circuits: &'static str,
    /// The keys that two tables of the fabric must have in common for their results to be bounds of
    /// a mechanism that its paper leaves open; empty if it has no such models.
    pub bounds: &'static [&'static str],
    /// How a testbed emulates it; `None` if none can.
    pub testbed: Option<Emulation>,
    /// The paper or standard it implements.
    pub source: &'static str,
    /// Two or three sentences that describe the fabric.
    pub summary: &'static str,
    /// Named configurations; at least one.
    pub presets: &'static [Preset],
    /// JSON Schema of its table.
    pub schema: fn() -> Value,
    /// Validates a table and fills in its defaults.
    pub resolve: fn(&Value, &Cluster) -> Result<Value, Refusal>,
    /// The keys by which a table follows the physics of an experiment.
    pub obey: fn(&Value, &Physics, &Cluster) -> Result<Obeyed, Refusal>,
    /// The idealised properties of a resolved table.
    pub ideal: fn(&Value) -> Result<Vec<&'static str>, Refusal>,
    /// Whether the results of a resolved table depend on the seed.
    pub draws: fn(&Value) -> Result<bool, Refusal>,
    /// The assumptions of the model of a resolved table about failures.
    pub failures: fn(&Value, &Cluster) -> Result<String, Refusal>,
    /// The keys that state the number of switches in each tier of a resolved table.
    pub switch_tiers: fn(&Value) -> Result<&'static [&'static str], Refusal>,
    /// Values of a resolved table that limit its results.
    pub findings: fn(&Value, &Cluster) -> Result<Vec<Finding>, Refusal>,
    /// Values of a resolved table that limit the results of a run that ended.
    pub findings_of_run: fn(&Value, &Ended) -> Result<Vec<Finding>, Refusal>,
    /// Doubts about the figures of a run of a resolved table.
    pub doubts: fn(&Value, &Cluster, &Ran) -> Result<Doubts, Refusal>,
    /// Builds the fabric from a resolved table.
    pub build: fn(&Value, &Site) -> Built,
    /// Approximate memory of its state [B].
    pub memory: fn(&Value, &Site) -> Result<Memory, Refusal>,
    /// The values that follow from a resolved table before a run.
    pub facts: fn(&Value, &Site) -> Result<Facts, Refusal>,
}

/// JSON Schema of a configuration type.
pub fn schema<C: FabricConfig>() -> Value {
    schemars::schema_for!(C).to_value()
}

/// Reads, validates and completes a table.
pub fn resolve<C: FabricConfig>(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
    if !table.is_object() {
        // serde would accept a list as the values of the keys in order.
        let limit = "must be a table of keys";
        return Err(Refusal::new("fabric", table, limit, "name each key"));
    }
    let table = C::with_devices(table, cluster)?;
    let config = config::read::<C>(&table, "fabric")?.resolve(cluster)?;
    Ok(serde_json::to_value(config).expect("configurations are plain data"))
}

/// The keys by which a table follows the physics of an experiment.
pub fn obey<C: FabricConfig>(
    table: &Value,
    physics: &Physics,
    cluster: &Cluster,
) -> Result<Obeyed, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.obey(physics, cluster))
}

/// The idealised properties of a resolved table.
pub fn ideal<C: FabricConfig>(table: &Value) -> Result<Vec<&'static str>, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.ideal())
}

/// Whether the results of a resolved table depend on the seed.
pub fn draws<C: FabricConfig>(table: &Value) -> Result<bool, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.draws())
}

/// The assumptions of the model of a resolved table about failures.
pub fn failures<C: FabricConfig>(table: &Value, cluster: &Cluster) -> Result<String, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.failures(cluster))
}

/// The keys that state the number of switches in each tier of a resolved table.
pub fn switch_tiers<C: FabricConfig>(table: &Value) -> Result<&'static [&'static str], Refusal> {
    Ok(config::read::<C>(table, "fabric")?.switch_tiers())
}

/// Values of a resolved table that limit its results.
pub fn findings<C: FabricConfig>(
    table: &Value,
    cluster: &Cluster,
) -> Result<Vec<Finding>, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.findings(cluster))
}

/// Values of a resolved table that limit the results of a run that ended.
pub fn findings_of_run<C: FabricConfig>(
    table: &Value,
    ended: &Ended,
) -> Result<Vec<Finding>, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.findings_of_run(ended))
}

/// Doubts about the figures of a run of a resolved table.
pub fn doubts<C: FabricConfig>(
    table: &Value,
    cluster: &Cluster,
    run: &Ran,
) -> Result<Doubts, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.doubts(cluster, run))
}

/// Builds a fabric from a resolved table.
pub fn build<C: FabricConfig>(table: &Value, site: &Site) -> Built {
    config::read::<C>(table, "fabric")?.build(site)
}

/// Estimates a fabric's memory from a resolved table.
pub fn memory<C: FabricConfig>(table: &Value, site: &Site) -> Result<Memory, Refusal> {
    let config = config::read::<C>(table, "fabric")?;
    Ok(Memory {
        sound: config.memory(site),
        of_failures: config.memory_of_failures(site),
    })
}

/// The values that follow from a resolved table before a run.
pub fn facts<C: FabricConfig>(table: &Value, site: &Site) -> Result<Facts, Refusal> {
    Ok(config::read::<C>(table, "fabric")?.facts_for(site))
}
