//! The result of a check on a scenario. A message begins with the name of the invariant that is
//! violated.

use proptest::test_runner::TestCaseError;
use std::fmt::{Debug, Display};

/// `Ok`, or the violated property.
pub type Checked = Result<(), TestCaseError>;

/// Checks equality; `what` names the compared values.
pub fn equal<T: PartialEq + Debug>(left: T, right: T, what: impl Display) -> Checked {
    match left == right {
        true => Ok(()),
        false => fail(format!("{what}: {left:?} is not {right:?}")),
    }
}

/// If `good` is false, fails with `message`.
pub fn ensure(good: bool, message: impl FnOnce() -> String) -> Checked {
    match good {
        true => Ok(()),
        false => fail(message()),
    }
}

/// A violated invariant, with its message.
pub fn fail(message: impl Into<String>) -> Checked {
    Err(TestCaseError::fail(message.into()))
}
