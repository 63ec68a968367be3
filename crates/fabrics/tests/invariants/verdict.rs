//! The result of a check on a scenario. A message begins with the name of the invariant that is
//! violated.

use proptest::test_runner::TestCaseError;
use std::fmt::{Debug, Display};

/// Nothing, or what is broken.
pub type Checked = Result<(), TestCaseError>;

/// `what` says whose equality is expected.
pub fn equal<T: PartialEq + Debug>(left: T, right: T, what: impl Display) -> Checked {
    match left == right {
        true => Ok(()),
        false => fail(format!("{what}: {left:?} is not {right:?}")),
    }
}

/// `message` says what is broken if `good` is false.
pub fn ensure(good: bool, message: impl FnOnce() -> String) -> Checked {
    match good {
        true => Ok(()),
        false => fail(message()),
    }
}

/// The invariant is broken.
pub fn fail(message: impl Into<String>) -> Checked {
    Err(TestCaseError::fail(message.into()))
}
