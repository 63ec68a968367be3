//! Schedules of circuit switches: permutations, each lit for a day, with nights between them in
//! which mirrors or filters move and all circuits are dark.
//!
//! Time is integer picoseconds. Every slot begins with its night, so a repeated schedule has no
//! gap. Guard times of hosts, jitter and the order in which bytes are sent are not part of a
//! schedule.
//!
//! | file | concept |
//! |---|---|
//! | this file | slots, and the bytes that they carry |
//! | `frame` | the limits of a planned schedule |
//! | [`plan`] | a schedule that was planned before, from its file |

mod frame;
pub mod plan;

pub use frame::Frame;

use crate::demand::Matrix;
use crate::hardware::Hardware;
use lightloom_engine::{Rate, Refusal, Time};
use serde::{de, Deserialize, Deserializer, Serialize};

/// One configuration of the switch and the time for which it is lit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The output of every input; no two inputs have the same one. An input with its own number,
    /// for which files may have -1, is idle, even if another input has that output.
    #[serde(deserialize_with = "outputs")]
    pub permutation: Vec<u32>,
    /// The time for which the circuits are lit, after the night.
    #[serde(with = "crate::ps", rename = "day_ps")]
    pub day: Time,
}

impl Slot {
    /// The circuits that are not idle: (input, output).
    ///
    /// ```
    /// use lightloom_control::schedule::Slot;
    /// let slot = Slot { permutation: vec![2, 1, 0], day: lightloom_engine::Time::US };
    /// assert_eq!(slot.circuits().collect::<Vec<_>>(), [(0, 2), (2, 0)]);
    /// ```
    pub fn circuits(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let ports = self.permutation.iter().enumerate();
        ports
            .map(|(input, &output)| (input, output as usize))
            .filter(|(input, output)| input != output)
    }
}

/// Slots in their order, each with a night and a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Ports of the switch.
    pub ports: usize,
    /// Dark time at the start of every slot.
    #[serde(with = "crate::ps", rename = "night_ps")]
    pub night: Time,
    /// The slots, in order.
    pub slots: Vec<Slot>,
}

/// Refuses a negative night.
pub(crate) fn check_night(night: Time) -> Result<(), Refusal> {
    if night < Time::ZERO {
        return Err(Refusal::new(
            "night",
            night,
            "not negative",
            "give 0 ns or more",
        ));
    }
    Ok(())
}

/// Refuses a rate of 0.
pub(crate) fn check_rate(key: &str, rate: Rate) -> Result<(), Refusal> {
    if rate.0 == 0 {
        return Err(Refusal::new(
            key,
            rate,
            "above 0",
            "give the rate of a circuit",
        ));
    }
    Ok(())
}

/// The part of a demand that a schedule carries in one period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// Demand that its circuits carry [bytes].
    pub bytes: i64,
    /// All demand [bytes].
    pub demand: i64,
}

impl Carried {
    /// The carried share of the demand, in [0, 1]; 1 without demand.
    pub fn share(&self) -> f64 {
        match self.demand {
            0 => 1.0,
            demand => self.bytes as f64 / demand as f64,
        }
    }
}

impl Schedule {
    /// A schedule in which every pair of ports meets once: slot t connects input i with output i +
    /// t + 1 for days of `day`.
    ///
    /// # Errors
    /// Fewer than two ports; a negative night; a day that is not positive.
    ///
    /// ```
    /// use lightloom_control::schedule::Schedule;
    /// use lightloom_engine::Time;
    /// // Mordia's slot of 106 µs with a night of 11.5 µs: a duty cycle of 89.15 %.
    /// let round = Schedule::round_robin(24, Time(94_500_000), Time(11_500_000)).unwrap();
    /// assert_eq!((round.slots.len(), round.period()), (23, Time::US * 2438));
    /// assert!((round.duty_cycle() - 0.8915).abs() < 1e-4);
    /// assert_eq!(round.slots[0].permutation[23], 0);
    /// ```
    pub fn round_robin(ports: usize, day: Time, night: Time) -> Result<Schedule, Refusal> {
        if ports < 2 {
            return Err(Refusal::new(
                "ports",
                ports,
                "a switch joins at least 2",
                "give 2 or more",
            ));
        }
        if day <= Time::ZERO {
            return Err(Refusal::new(
                "day",
                day,
                "above 0",
                "write the lit time of each slot",
            ));
        }
        let lasts = (ports as i128 - 1) * (i128::from(day.0) + i128::from(night.0));
        if lasts > i128::from(i64::MAX) {
            return Err(Refusal::new(
                "day",
                day,
                format!(
                    "{} of them, and nights, last longer than 106 days",
                    ports - 1
                ),
                "shorten it",
            ));
        }
        let round = crate::algorithms::cyclic::RoundRobin {
            nodes: ports as u32,
            uplinks: 1,
        };
        let slot = |t| Slot {
            permutation: (0..round.nodes).map(|i| round.peer(i, 0, t)).collect(),
            day,
        };
        let schedule = Schedule {
            ports,
            night,
            slots: (0..ports as i64 - 1).map(slot).collect(),
        };
        schedule.check()?;
        Ok(schedule)
    }

    /// The round robin with the longest slots that a frame's period allows. The remainder of the
    /// division is omitted: the round may be some picoseconds shorter than the period.
    ///
    /// # Errors
    /// As [`Frame::check`] and [`Schedule::round_robin`]; a frame in which not
    /// every pair can meet.
    ///
    /// ```
    /// use lightloom_control::schedule::{Frame, Schedule};
    /// use lightloom_engine::Time;
    /// let frame = Frame { night: Time::US, shortest: Time::US * 5, ..Frame::of(Time::US * 60) };
    /// let round = Schedule::round_robin_in(7, &frame).unwrap();
    /// assert_eq!(round.slots[0].day, Time::US * 9); // 60 / 6 - 1
    /// assert!(Schedule::round_robin_in(64, &frame).is_err());
    /// ```
    pub fn round_robin_in(ports: usize, frame: &Frame) -> Result<Schedule, Refusal> {
        frame.check()?;
        let slots = ports.saturating_sub(1).max(1);
        let nights = slots as i128 * i128::from(frame.night.0);
        if i128::from(frame.period.0) < nights + slots as i128 {
            return Err(Refusal::new(
                "period",
                frame.period,
                format!("{slots} nights of {} leave no time for days", frame.night),
                "raise it, or lower the night",
            ));
        }
        if slots > frame.most_slots() {
            return Err(Refusal::new(
                "ports",
                ports,
                format!(
                    "a round needs {slots} slots, but only {} fit",
                    frame.most_slots()
                ),
                "raise the period or max_slots, or lower the shortest slot",
            ));
        }
        let day = frame.period / slots as i64 - frame.night;
        Schedule::round_robin(ports, day, frame.night)
    }

    /// Refuses slots that no switch can have.
    ///
    /// # Errors
    /// A negative night; a slot of which two inputs have the same output, or whose day
    /// is not positive; a period beyond 106 days.
    ///
    /// ```
    /// use lightloom_control::schedule::{Schedule, Slot};
    /// use lightloom_engine::Time;
    /// let slots = vec![Slot { permutation: vec![1, 0, 0], day: Time::US }];
    /// let schedule = Schedule { ports: 3, night: Time::NS, slots };
    /// assert_eq!(schedule.check().unwrap_err().key, "slots[0].permutation[2]");
    /// ```
    pub fn check(&self) -> Result<(), Refusal> {
        check_night(self.night)?;
        for (at, slot) in self.slots.iter().enumerate() {
            check_permutation(at, &slot.permutation, self.ports)?;
            if slot.day <= Time::ZERO {
                return Err(Refusal::new(
                    format!("slots[{at}].day"),
                    slot.day,
                    "a day must be longer than 0",
                    "remove the slot, or lengthen it",
                ));
            }
        }
        let slots = self.slots.iter();
        let period: i128 = slots
            .map(|s| i128::from(s.day.0) + i128::from(self.night.0))
            .sum();
        match i64::try_from(period) {
            Ok(_) => Ok(()),
            Err(_) => Err(Refusal::new(
                "slots",
                format!("{period} ps in sum"),
                "a schedule lasts at most 106 days",
                "shorten it",
            )),
        }
    }

    /// Refuses a schedule that this switch cannot follow.
    ///
    /// # Errors
    /// As [`Schedule::check`]; one of another size, or for a switch of several planes.
    pub fn check_for(&self, hardware: &Hardware) -> Result<(), Refusal> {
        let Hardware {
            racks,
            planes,
            ports,
            ..
        } = *hardware;
        self.check()?;
        if self.ports == racks as usize && planes == 1 && ports == 1 {
            return Ok(());
        }
        Err(Refusal::new(
            "schedule",
            format!("{} ports", self.ports),
            format!("the switch has {racks} racks, {ports} ports each, on each of {planes} planes"),
            "schedule every rack, on one plane",
        ))
    }

    /// The schedule for a switch with a shortest slot, nights included: shorter slots are extended
    /// to it.
    pub fn in_slots_of(mut self, shortest: Time) -> Schedule {
        let least = shortest - self.night;
        for slot in &mut self.slots {
            slot.day = slot.day.max(least);
        }
        self
    }

    /// The time from the start of the schedule to its end, nights included.
    pub fn period(&self) -> Time {
        self.lit() + self.night * self.slots.len() as i64
    }

    /// The sum of the days.
    pub fn lit(&self) -> Time {
        Time(self.slots.iter().map(|slot| slot.day.0).sum())
    }

    /// The share of the period in which circuits are lit, 1 − m · night / W; 0
    /// without slots.
    pub fn duty_cycle(&self) -> f64 {
        match self.period() {
            Time::ZERO => 0.0,
            period => self.lit().0 as f64 / period.0 as f64,
        }
    }

    /// The part of `demand` that one period carries over circuits of `rate`: in each day whole
    /// bytes of the remaining demand, over direct circuits only.
    ///
    /// # Panics
    /// If `demand` is of another size than the switch.
    ///
    /// ```
    /// use lightloom_control::{demand::Matrix, schedule::Schedule};
    /// use lightloom_engine::{Rate, Time};
    /// let round = Schedule::round_robin(3, Time::US, Time::ZERO).unwrap();
    /// let demand = Matrix::new(3, 3, vec![0, 5000, 0, 0, 0, 0, 600, 0, 0]).unwrap();
    /// // A microsecond at 10 Gb/s is 1,250 bytes.
    /// let carried = round.carried(&demand, Rate(10 * Rate::GBPS.0));
    /// assert_eq!((carried.bytes, carried.demand), (1850, 5600));
    /// ```
    pub fn carried(&self, demand: &Matrix, rate: Rate) -> Carried {
        let left = self.residual(demand, rate).total();
        let demand = demand.total();
        Carried {
            bytes: demand - left,
            demand,
        }
    }

    /// The part of `demand` that one period leaves to another network, counted as in
    /// [`Schedule::carried`].
    ///
    /// # Panics
    /// If `demand` is of another size than the switch.
    ///
    /// ```
    /// use lightloom_control::{demand::Matrix, schedule::Schedule};
    /// use lightloom_engine::{Rate, Time};
    /// let round = Schedule::round_robin(3, Time::US, Time::ZERO).unwrap();
    /// let demand = Matrix::new(3, 3, vec![0, 5000, 0, 0, 0, 0, 600, 0, 0]).unwrap();
    /// let left = round.residual(&demand, Rate(10 * Rate::GBPS.0));
    /// assert_eq!(left.entries().collect::<Vec<_>>(), [(0, 1, 3750)]);
    /// ```
    pub fn residual(&self, demand: &Matrix, rate: Rate) -> Matrix {
        assert_eq!(
            demand.n(),
            self.ports,
            "demand of the ports of the schedule"
        );
        let mut left = demand.clone();
        for slot in &self.slots {
            let most = i64::try_from(rate.bytes_in(slot.day)).unwrap_or(i64::MAX);
            for (input, output) in slot.circuits() {
                let cell = &mut left.cells_mut()[input * self.ports + output];
                *cell -= most.min(*cell);
            }
        }
        left
    }
}

/// Reads outputs; -1 becomes an idle input's own number.
pub(crate) fn outputs<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u32>, D::Error> {
    let found = Vec::<i64>::deserialize(d)?;
    let ports = found.into_iter().zip(0u32..);
    let read = ports.map(|(output, input)| match output {
        -1 => Ok(input),
        _ => u32::try_from(output).map_err(|_| {
            let limit =
                format!("output {output} of input {input}: outputs count from 0, -1 is idle");
            de::Error::custom(limit)
        }),
    });
    read.collect()
}

fn check_permutation(at: usize, permutation: &[u32], ports: usize) -> Result<(), Refusal> {
    if permutation.len() != ports {
        return Err(Refusal::new(
            format!("slots[{at}].permutation"),
            format!("{} outputs", permutation.len()),
            format!("the switch has {ports} ports"),
            "give one output for every port",
        ));
    }
    let mut taken = vec![None; ports];
    for (input, &output) in permutation.iter().enumerate() {
        let refuse = |limit| {
            let key = format!("slots[{at}].permutation[{input}]");
            let remedy = "give each output to one input; -1 is an idle input";
            Err(Refusal::new(key, output, limit, remedy))
        };
        match taken.get_mut(output as usize) {
            None => return refuse(format!("the outputs are 0 to {}", ports - 1)),
            Some(_) if output as usize == input => {}
            Some(Some(other)) => return refuse(format!("input {other} has this output")),
            Some(free) => *free = Some(input),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn schedule(ports: usize, slots: Vec<(Vec<u32>, Time)>) -> Schedule {
        let slot = |(permutation, day)| Slot { permutation, day };
        Schedule {
            ports,
            night: Time::NS,
            slots: slots.into_iter().map(slot).collect(),
        }
    }

    #[test]
    fn minus_one_is_idle() {
        let read = |text: &str| serde_json::from_str::<Slot>(text);
        let slot = read(r#"{"permutation": [1, 0, -1], "day_ps": 5}"#).unwrap();
        assert_eq!(slot.permutation, [1, 0, 2]);
        let circuits: Vec<(usize, usize)> = slot.circuits().collect();
        assert_eq!(circuits, [(0, 1), (1, 0)]);
        // Input 1 is idle while input 0 has output 1.
        let slot = read(r#"{"permutation": [1, -1, -1], "day_ps": 5}"#).unwrap();
        assert_eq!(slot.circuits().collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(
            schedule(3, vec![(slot.permutation, slot.day)]).check(),
            Ok(())
        );
        let e = read(r#"{"permutation": [1, -2, 0], "day_ps": 5}"#).unwrap_err();
        assert!(
            e.to_string()
                .starts_with("output -2 of input 1: outputs count from 0"),
            "{e}"
        );
    }

    #[test]
    fn impossible_slots_are_refused_by_name() {
        let refused = |s: &Schedule| s.check().unwrap_err().to_string();
        let good = (vec![1, 2, 0], Time::US);
        let with = |p: Vec<u32>, day| schedule(3, vec![good.clone(), (p, day)]);
        assert_eq!(
            refused(&with(vec![0, 1], Time::US)),
            "slots[1].permutation = 2 outputs: the switch has 3 ports; \
             give one output for every port"
        );
        assert_eq!(
            refused(&with(vec![0, 1, 3], Time::US)),
            "slots[1].permutation[2] = 3: the outputs are 0 to 2; \
             give each output to one input; -1 is an idle input"
        );
        assert_eq!(
            refused(&with(vec![1, 0, 0], Time::US)),
            "slots[1].permutation[2] = 0: input 1 has this output; \
             give each output to one input; -1 is an idle input"
        );
        assert!(refused(&with(vec![0, 2, 1], Time::ZERO)).contains("a day must be longer"));
        assert!(refused(&with(vec![0, 2, 1], Time::NEVER)).contains("106 days"));
        let backwards = Schedule {
            night: Time(-1),
            ..with(vec![0, 2, 1], Time::US)
        };
        assert!(refused(&backwards).starts_with("night = "));
        assert!(with(vec![0, 2, 1], Time::US).check().is_ok());
    }

    #[test]
    fn impossible_rounds_are_refused_by_name() {
        assert_eq!(
            Schedule::round_robin(1, Time::US, Time::ZERO)
                .unwrap_err()
                .key,
            "ports"
        );
        let no_day = Schedule::round_robin(3, Time::ZERO, Time::ZERO).unwrap_err();
        assert!(no_day.to_string().starts_with("day = 0 ps: above 0; "));
    }

    #[test]
    fn a_day_carries_whole_bytes_of_what_is_left() {
        // A day carries 3 bytes at 8 b/s; the pair (0, 1) has two days.
        let s = Time::S * 3 + Time::MS * 900;
        let schedule = schedule(3, vec![(vec![1, 0, 2], s), (vec![1, 2, 0], s)]);
        let demand = Matrix::new(3, 3, vec![0, 5, 9, 2, 0, 7, 0, 1, 0]).unwrap();
        let left = schedule.residual(&demand, Rate(8));
        assert_eq!(left.cells(), [0, 0, 9, 0, 0, 4, 0, 1, 0]);
        let carried = schedule.carried(&demand, Rate(8));
        assert_eq!((carried.bytes, carried.share()), (10, 10.0 / 24.0));
        // Idle inputs carry nothing, nor does a schedule without slots.
        assert_eq!(schedule.slots[0].circuits().count(), 2);
        let none = Schedule {
            slots: vec![],
            ..schedule
        };
        assert_eq!(none.residual(&demand, Rate(8)), demand);
        assert_eq!((none.duty_cycle(), none.period()), (0.0, Time::ZERO));
    }

    proptest! {
        #[test]
        fn a_round_joins_every_pair_once(ports in 2usize..40) {
            let round = Schedule::round_robin(ports, Time::US, Time::NS).unwrap();
            let mut demand = Matrix::zeros(ports);
            for i in 0..ports {
                (0..ports).filter(|&j| j != i).for_each(|j| demand.set(i, j, 1000));
            }
            // A circuit carries 1,000 bytes per microsecond, so one meeting is just enough.
            let carried = round.carried(&demand, Rate(8 * Rate::GBPS.0));
            prop_assert_eq!(carried.share(), 1.0);
            prop_assert_eq!(round.slots.len(), ports - 1);
        }
    }
}
