//! The agenda: a calendar queue of typed events.

/// A calendar queue of typed `Copy` events.
pub struct Agenda<E> {
    _events: Vec<E>,
}
