//! The order of a change: its steps and the dependencies between them.
//!
//! A policy chooses an order, which is plain data, and the [controller](crate::controller) executes
//! it. No kernel and no driver of a switch has an order of its own.

use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{de, ser, Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{json, Value};
use std::borrow::Cow;

/// A step of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Traffic of pairs whose routes change is moved to the electrical network.
    Drain,
    /// Circuits go dark.
    Dark(Extent),
    /// Circuits of the target that are not lit come up.
    Light,
    /// The new routes are installed but do not take effect yet.
    Route,
    /// Traffic uses the new routes.
    Enter,
}

/// The set of circuits that go dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All lit circuits.
    All,
    /// Circuits that are not in the target.
    Removed,
}

/// Steps, each with the steps before it (by index) that must be done first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order(pub &'static [(Step, &'static [usize])]);

impl Order {
    /// c-Through (SIGCOMM 2010, §5.1): all circuits go dark together, which moves their traffic to
    /// the electrical network, and the new ones come up together.
    pub const ALL_DARK: Order = Order(&[
        (Step::Dark(Extent::All), &[]),
        (Step::Light, &[0]),
        (Step::Enter, &[1]),
    ]);

    /// HydRA (JOCN 7(3), 2015, §III.B.1): step 3-1 drains; step 3-2 sets mirrors and installs
    /// routes at the same time; step 3-3 lets traffic in. No packet is sent to a dark circuit.
    pub const THREE_SUBSTEPS: Order = Order(&[
        (Step::Drain, &[]),
        (Step::Dark(Extent::Removed), &[0]),
        (Step::Light, &[1]),
        (Step::Route, &[1]),
        (Step::Enter, &[2, 3]),
    ]);

    /// The Open Compute Project's model of an optical circuit switch (OCP OCS YANG 0.8): circuits
    /// that stay are not touched; first some circuits are deleted, then others are created.
    pub const DELETE_CREATE: Order = Order(&[
        (Step::Dark(Extent::Removed), &[]),
        (Step::Light, &[0]),
        (Step::Enter, &[1]),
    ]);

    /// All orders by the names that configurations, policies in files and logs use.
    pub const NAMED: [(&'static str, Order); 3] = [
        (Order::NAMES[0], Order::ALL_DARK),
        (Order::NAMES[1], Order::THREE_SUBSTEPS),
        (Order::NAMES[2], Order::DELETE_CREATE),
    ];

    /// The names of the orders.
    pub const NAMES: &'static [&'static str] = &["all-dark", "three-substeps", "delete-create"];

    /// The meaning of each order, for users.
    const MEANINGS: [&'static str; 3] = [
        "All circuits go dark, the new circuits come up, traffic enters (c-Through §5.1).",
        "Traffic leaves, circuits change while routes are installed, traffic enters \
         (HydRA §III.B.1).",
        "Circuits outside the target go dark, the new circuits come up, traffic enters (OCP).",
    ];

    /// The order with this name, if there is one.
    pub fn named(name: &str) -> Option<Order> {
        let found = Order::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, order)| *order)
    }

    /// Whether traffic is moved away before its circuit goes dark.
    pub fn drains(&self) -> bool {
        self.0.iter().any(|(step, _)| *step == Step::Drain)
    }
}

/// Serialised by its name; orders without a name exist only in tests and are not written.
impl Serialize for Order {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match Order::NAMED.iter().find(|(_, order)| order == self) {
            Some((name, _)) => s.serialize_str(name),
            None => Err(ser::Error::custom("an order without a name")),
        }
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Order, D::Error> {
        let name = String::deserialize(d)?;
        let known = Order::NAMES.join(", ");
        let unknown = || de::Error::custom(format!("no order is called {name}; there are {known}"));
        Order::named(&name).ok_or_else(unknown)
    }
}

impl JsonSchema for Order {
    fn schema_name() -> Cow<'static, str> {
        "Order".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let named = Order::NAMES.iter().zip(Order::MEANINGS);
        let choices = named.map(
            |(name, meaning)| json!({ "const": name, "description": meaning, "type": "string" }),
        );
        json_schema!({
            "description": "Order of the steps of a change.",
            "oneOf": Value::from_iter(choices),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The controller can complete every order: steps depend only on earlier ones, circuits come up
    /// after others go dark, and traffic enters last.
    #[test]
    fn every_order_can_be_walked() {
        for order in [Order::ALL_DARK, Order::THREE_SUBSTEPS, Order::DELETE_CREATE] {
            let steps = order.0;
            for (at, (_, after)) in steps.iter().enumerate() {
                assert!(after.iter().all(|&before| before < at));
            }
            let at = |wanted: fn(&Step) -> bool| steps.iter().position(|(step, _)| wanted(step));
            let dark = at(|s| matches!(s, Step::Dark(_))).unwrap();
            let light = at(|s| *s == Step::Light).unwrap();
            assert!(steps[light].1.contains(&dark));
            assert_eq!(at(|s| *s == Step::Enter), Some(steps.len() - 1));
            let (_, last) = steps[steps.len() - 1];
            let waited: Vec<usize> = steps.iter().flat_map(|s| s.1).copied().collect();
            assert!((0..steps.len() - 1).all(|s| waited.contains(&s)) && last.contains(&light));
        }
        assert!(Order::THREE_SUBSTEPS.drains() && !Order::ALL_DARK.drains());
    }

    #[test]
    fn orders_are_read_by_the_names_that_they_are_written_by() {
        for (name, order) in Order::NAMED {
            assert_eq!(serde_json::to_value(order).unwrap(), json!(name));
            assert_eq!(serde_json::from_value::<Order>(json!(name)).unwrap(), order);
        }
        assert_eq!(Order::named("at-once"), None);
    }
}
