//! Failures of parts of these networks, which are always complete.

use lightloom_engine::{Command, Rejected};

/// Refuses a failure of a part with a loss below 1.
///
/// # Errors
/// If the loss is below 1; `what` can only fail completely.
pub fn refuse_grey(what: &str, command: Command) -> Result<(), Rejected> {
    match command {
        Command::Fail { loss, .. } if loss < 1.0 => Err(Rejected(format!(
            "{what} wholly, not with loss {loss}; set its loss to 1"
        ))),
        _ => Ok(()),
    }
}
