//! Applications that run on clusters, one file each.

mod fft;
mod gridmix;
mod gups;
mod hadoop;
mod sort;
#[cfg(test)]
mod tests;
mod vm_migration;

pub use fft::Fft;
pub use gridmix::Gridmix;
pub use gups::Gups;
pub use hadoop::Hadoop;
pub use sort::Sort;
pub use vm_migration::VmMigration;
