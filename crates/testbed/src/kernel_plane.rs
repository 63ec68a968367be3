//! The kernel plane: a tc program at every interface of the fabric's namespace. It forwards packets
//! by two tables, one for the rack switches and one for the optical switches. Changes are written
//! into the idle copy of a table and take effect with a single store.
//!
//! The source of the program is `bpf/plane.bpf.c`. The program cannot hold packets: a packet sent
//! to a dark circuit is lost and counted. A controller must therefore drain a circuit before it
//! darkens it, or accept the loss.

use super::namespace::within;
use aya::maps::{Array, MapData};
use aya::programs::tc::{self, TcAttachType};
use aya::programs::SchedClassifier;
use aya::Ebpf;
use std::io;
use std::path::{Path, PathBuf};

/// The largest number of racks; like the limits below, it follows from the program's tables.
pub const RACKS: u32 = 16;
/// The largest number of optical switches.
pub const PLANES: u32 = 8;
/// The largest number of hosts in a rack.
pub const HOSTS: u32 = 64;
/// The VLAN of the first path that servers select with a tag.
pub const FIRST_TAG: u32 = 1000;
/// The largest number of such VLANs.
pub const TAGS: u32 = 256;
/// The value for no output: a dark input, or a pair of racks that no network connects.
pub const NOWHERE: u32 = 255;

/// Whether clang compiled the program when the package was built.
pub const BUILT: bool = cfg!(bpf);

#[cfg(bpf)]
static PROGRAM: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/plane.o"));

/// The role of an interface in the fabric's namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A host's link, at its rack switch.
    Host(u32),
    /// A rack switch's uplink to the electrical network.
    TorElectrical,
    /// A rack switch's uplink to an optical switch.
    TorOptical(u32),
    /// The other end of `TorElectrical`, at the electrical network.
    Core,
    /// The other end of `TorOptical`, at that optical switch.
    Ocs(u32),
}

/// An interface: its name, index, rack and role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its index in the namespace.
    pub index: u32,
    /// The rack that it belongs to.
    pub rack: u32,
    /// Its role in the fabric.
    pub role: Role,
}

/// Packets lost in the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Packets sent to an optical switch whose input was dark.
    pub dark: u64,
    /// Packets whose MAC addresses are not of the testbed's scheme, such as broadcasts.
    pub strange: u64,
    /// Packets for a rack or host to which no path exists.
    pub nowhere: u64,
}

/// `struct port` of the program.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    role: u32,
    rack: u32,
    plane: u32,
}

#[allow(unsafe_code)]
// SAFETY: three words without padding; every bit pattern is a valid value.
unsafe impl aya::Pod for Entry {}

/// The program and its tables. Dropping it removes both; the interfaces then forward nothing.
pub struct KernelPlane {
    program: Ebpf,
    racks: u32,
    planes: u32,
}

impl KernelPlane {
    /// Loads the program and attaches it to the interfaces of a namespace. All circuits are dark;
    /// rack switches send everything over the electrical network if there is one.
    ///
    /// # Errors
    /// If the package was built without clang, if the kernel refuses the program, if an interface
    /// does not exist, or if there are more racks, optical switches or hosts than the tables hold.
    pub fn new(
        namespace: &Path,
        racks: u32,
        planes: u32,
        electrical: bool,
        ports: &[Port],
    ) -> io::Result<KernelPlane> {
        if racks > RACKS || planes > PLANES {
            let limit = format!("at most {RACKS} racks and {PLANES} optical switches");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, limit));
        }
        let namespace: PathBuf = namespace.to_owned();
        let program = within(&namespace, || attached(ports))?;
        let mut plane = KernelPlane {
            program,
            racks,
            planes,
        };
        plane.describe(ports)?;
        let direct = |at: u32, dst: u32| match electrical && at != dst {
            true => 0,
            false => NOWHERE,
        };
        let next =
            { 0..racks }.flat_map(|at| (0..racks * racks).map(move |pair| (at, pair % racks)));
        let next: Vec<u32> = next.map(|(at, dst)| direct(at, dst)).collect();
        plane.lead(&next)?;
        plane.cross(&vec![NOWHERE; (racks * planes) as usize])?;
        Ok(plane)
    }

    /// Divides the output of a device in each of these namespaces into two classes: 1:2 for packets
    /// that the rack sends over a circuit at that moment, 1:3 for all others.
    ///
    /// # Errors
    /// If the kernel refuses the program, or if a device or namespace does not exist.
    pub fn classify(&mut self, namespaces: &[PathBuf], device: &str) -> io::Result<()> {
        let program = classifier(&mut self.program, "host_output")?;
        for namespace in namespaces {
            within(namespace, || attach(program, device, TcAttachType::Egress))?;
        }
        Ok(())
    }

    fn describe(&mut self, ports: &[Port]) -> io::Result<()> {
        for port in ports {
            let (role, plane) = match port.role {
                Role::Host(_) => (1, 0),
                Role::TorElectrical => (2, 0),
                Role::TorOptical(plane) => (3, plane),
                Role::Core => (4, 0),
                Role::Ocs(plane) => (5, plane),
            };
            let entry = Entry {
                role,
                rack: port.rack,
                plane,
            };
            set(&mut self.array::<Entry>("ports")?, port.index, entry)?;
            let uplink = |plane| port.rack * (1 + PLANES) + plane;
            let (table, key) = match port.role {
                Role::Host(host) if host < HOSTS => ("hosts", port.rack * HOSTS + host),
                Role::Host(_) => {
                    let limit = format!("at most {HOSTS} hosts in a rack");
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, limit));
                }
                Role::TorElectrical => ("uplinks", uplink(0)),
                Role::TorOptical(plane) => ("uplinks", uplink(1 + plane)),
                Role::Core => ("inner", uplink(0)),
                Role::Ocs(plane) => ("inner", uplink(1 + plane)),
            };
            set(&mut self.array::<u32>(table)?, key, port.index)?;
        }
        Ok(())
    }

    /// Sets the table of the rack switches, with index (at × racks + src) × racks + dst: 0 for the
    /// electrical network, 1 + plane for an optical switch, [`NOWHERE`] for neither.
    ///
    /// # Errors
    /// If the kernel refuses, or if the table has another size.
    pub fn lead(&mut self, next: &[u32]) -> io::Result<()> {
        let racks = self.racks;
        expect(next.len(), racks * racks * racks)?;
        let table = 1 - self.chosen(0)?;
        let mut array = self.array::<u32>("next")?;
        for (at, &hop) in (0u32..).zip(next) {
            let (rack, src, dst) = (at / (racks * racks), at / racks % racks, at % racks);
            let row = ((table * RACKS + rack) * RACKS + src) * RACKS + dst;
            set(&mut array, row, hop)?;
        }
        self.choose(0, table)
    }

    /// Sets the paths of packets that servers tag. Each row holds the rack, the VLAN, the
    /// destination rack, and 1 + plane, or 0 if the VLAN no longer leads there.
    ///
    /// # Errors
    /// If the kernel refuses, or if a rack, VLAN or optical switch does not exist.
    pub fn lead_tagged(&mut self, rows: &[(u32, u32, u32, u32)]) -> io::Result<()> {
        let (racks, planes) = (self.racks, self.planes);
        let mut array = self.array::<u32>("tagged")?;
        for &(at, tag, to, hop) in rows {
            let vlan = tag.checked_sub(FIRST_TAG).filter(|&vlan| vlan < TAGS);
            let Some(vlan) = vlan.filter(|_| at < racks && to < racks && hop <= planes) else {
                let limit = format!("no row for VLAN {tag} from rack {at} to rack {to}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, limit));
            };
            set(&mut array, (at * TAGS + vlan) * RACKS + to, hop)?;
        }
        Ok(())
    }

    /// Sets the outputs of the optical switches, with index plane × racks + input; [`NOWHERE`] is
    /// dark.
    ///
    /// # Errors
    /// If the kernel refuses, if the table has another size, or if two inputs of a switch have the
    /// same output.
    pub fn cross(&mut self, outputs: &[u32]) -> io::Result<()> {
        let (racks, planes) = (self.racks, self.planes);
        expect(outputs.len(), racks * planes)?;
        for row in outputs.chunks(racks as usize) {
            let mut lit: Vec<u32> = row.iter().copied().filter(|&o| o != NOWHERE).collect();
            lit.sort_unstable();
            if lit.windows(2).any(|two| two[0] == two[1]) || lit.iter().any(|&o| o >= racks) {
                let limit = "an output joins one input of its switch";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, limit));
            }
        }
        let table = 1 - self.chosen(1)?;
        let mut array = self.array::<u32>("crossed")?;
        for (at, &output) in (0u32..).zip(outputs) {
            let (plane, rack) = (at / racks, at % racks);
            set(&mut array, (table * PLANES + plane) * RACKS + rack, output)?;
        }
        self.choose(1, table)
    }

    /// The packets lost since the start.
    ///
    /// # Errors
    /// If the kernel refuses to read a table.
    pub fn lost(&mut self) -> io::Result<Lost> {
        let array = self.array::<u64>("lost")?;
        let read = |at| array.get(&at, 0).map_err(io::Error::other);
        Ok(Lost {
            dark: read(0)?,
            strange: read(1)?,
            nowhere: read(2)?,
        })
    }

    fn chosen(&mut self, kind: u32) -> io::Result<u32> {
        let array = self.array::<u32>("chosen")?;
        array.get(&kind, 0).map_err(io::Error::other)
    }

    fn choose(&mut self, kind: u32, table: u32) -> io::Result<()> {
        set(&mut self.array::<u32>("chosen")?, kind, table)
    }

    fn array<T: aya::Pod>(&mut self, name: &str) -> io::Result<Array<&mut MapData, T>> {
        let map = self.program.map_mut(name);
        let map =
            map.ok_or_else(|| io::Error::other(format!("the program has no table {name}")))?;
        Array::try_from(map).map_err(io::Error::other)
    }
}

fn expect(found: usize, wanted: u32) -> io::Result<()> {
    match found == wanted as usize {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{found} entries where {wanted} belong"),
        )),
    }
}

fn set<T: aya::Pod>(array: &mut Array<&mut MapData, T>, key: u32, value: T) -> io::Result<()> {
    array.set(key, value, 0).map_err(io::Error::other)
}

#[cfg(bpf)]
fn attached(ports: &[Port]) -> io::Result<Ebpf> {
    let mut loaded = Ebpf::load(PROGRAM).map_err(io::Error::other)?;
    let program = classifier(&mut loaded, "plane")?;
    for port in ports {
        attach(program, &port.name, TcAttachType::Ingress)?;
    }
    Ok(loaded)
}

/// Loads a function of the object.
fn classifier<'a>(object: &'a mut Ebpf, name: &str) -> io::Result<&'a mut SchedClassifier> {
    let program: &mut SchedClassifier = { object.program_mut(name) }
        .ok_or_else(|| io::Error::other(format!("the object has no function {name}")))?
        .try_into()
        .map_err(io::Error::other)?;
    program.load().map_err(io::Error::other)?;
    Ok(program)
}

/// Attaches the program to a device of this thread's namespace.
fn attach(program: &mut SchedClassifier, device: &str, to: TcAttachType) -> io::Result<()> {
    // The qdisc already exists if another filter was attached.
    let _ = tc::qdisc_add_clsact(device);
    let attached = program.attach(device, to);
    attached.map_err(|e| io::Error::other(format!("{device}: {e}")))?;
    Ok(())
}

#[cfg(not(bpf))]
fn attached(_: &[Port]) -> io::Result<Ebpf> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this package was built without clang; install Debian's clang and build it anew",
    ))
}
