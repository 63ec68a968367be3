//! A TAP device: frames that a namespace sends are read from a file, and frames that are
//! written to it arrive there.

#![allow(unsafe_code)]

use super::namespace::within;
use nix::libc;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The request of `include/uapi/linux/if_tun.h` that names the device of a file.
const TUNSETIFF: u64 = 0x4004_54ca;
/// Frames, not packets; no header before them.
const IFF_TAP: i16 = 0x0002;
const IFF_NO_PI: i16 = 0x1000;

/// `struct ifreq`, with the flags alone of its union.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: i16,
    rest: [u8; 22],
}

/// Makes a TAP device of that name in a namespace; it goes when the file is closed. Reads do
/// not wait.
///
/// # Errors
/// If the name is longer than 15 bytes or in use; if there is no `/dev/net/tun`; if the process
/// has not the right.
pub fn open(namespace: &Path, name: &str) -> io::Result<File> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "1 to 15 bytes"));
    }
    within(namespace, || {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")?;
        let mut request = Request {
            name: [0; libc::IFNAMSIZ],
            flags: IFF_TAP | IFF_NO_PI,
            rest: [0; 22],
        };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: the kernel reads and writes an `ifreq`, of 40 bytes, which `Request` is.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &mut request) };
        match done {
            0 => Ok(file),
            _ => Err(io::Error::last_os_error()),
        }
    })
}
