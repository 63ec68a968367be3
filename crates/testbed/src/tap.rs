//! A TAP device. Frames that a namespace sends are read from a file; frames that are written to the
//! file arrive in the namespace.

#![allow(unsafe_code)]

use super::namespace::within;
use nix::libc;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The ioctl of `include/uapi/linux/if_tun.h` that sets the name of a file's device.
const TUNSETIFF: u64 = 0x4004_54ca;
/// A device for frames, not packets, without a header before each frame.
const IFF_TAP: i16 = 0x0002;
const IFF_NO_PI: i16 = 0x1000;

/// `struct ifreq`; of its union only the flags are used.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: i16,
    rest: [u8; 22],
}

/// Creates a TAP device with a name in a namespace. The device is deleted when the file is closed.
/// Reads do not block.
///
/// # Errors
/// If the name is longer than 15 bytes or in use, if there is no `/dev/net/tun`, or if the process
/// lacks the permission.
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
        // SAFETY: the kernel reads and writes an `ifreq` of 40 bytes; `Request` has this layout and
        // size.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &mut request) };
        match done {
            0 => Ok(file),
            _ => Err(io::Error::last_os_error()),
        }
    })
}
