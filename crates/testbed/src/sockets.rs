//! Bytes that wait in the TCP sockets of a namespace, from the kernel's SOCK_DIAG: the demand that
//! c-Through measures (§4.1).

use super::namespace::within;
use netlink_packet_core::{
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NLM_F_DUMP, NLM_F_REQUEST,
};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_packet_sock_diag::{SockDiagMessage, AF_INET, IPPROTO_TCP};
use netlink_sys::{protocols::NETLINK_SOCK_DIAG, Socket, SocketAddr};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// The buffer for one message of the kernel [B].
const ROOM: usize = 1 << 16;

/// A SOCK_DIAG socket in a namespace; it is opened once and used for every request.
pub struct Sockets {
    socket: Socket,
    room: Vec<u8>,
}

impl Sockets {
    /// Opens the socket in a namespace.
    ///
    /// # Errors
    /// If the namespace cannot be entered, or the kernel has no SOCK_DIAG.
    pub fn of(namespace: &Path) -> io::Result<Sockets> {
        let socket = within(namespace, || {
            let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
            socket.bind_auto()?;
            socket.connect(&SocketAddr::new(0, 0))?;
            Ok(socket)
        })?;
        Ok(Sockets {
            socket,
            room: vec![0; ROOM],
        })
    }

    /// The bytes that sockets of established and closing connections hold for each peer:
    /// unacknowledged or not yet sent.
    ///
    /// # Errors
    /// If the kernel refuses the request.
    pub fn waiting(&mut self) -> io::Result<BTreeMap<Ipv4Addr, u64>> {
        self.socket.send(&request(), 0)?;
        let mut waiting = BTreeMap::new();
        loop {
            let size = self.socket.recv(&mut &mut self.room[..], 0)?;
            if !add(&self.room[..size], &mut waiting)? {
                return Ok(waiting);
            }
        }
    }
}

fn request() -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let asked = InetRequest {
        family: AF_INET,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::ESTABLISHED | StateFlags::CLOSE_WAIT | StateFlags::FIN_WAIT1,
        socket_id: SocketId::new_v4(),
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(asked).into());
    message.finalize();
    let mut bytes = vec![0; message.header.length as usize];
    message.serialize(&mut bytes);
    bytes
}

/// Adds the sockets of one answer; returns whether more answers follow.
fn add(answer: &[u8], waiting: &mut BTreeMap<Ipv4Addr, u64>) -> io::Result<bool> {
    let mut rest = answer;
    while !rest.is_empty() {
        let message =
            <NetlinkMessage<SockDiagMessage>>::deserialize(rest).map_err(io::Error::other)?;
        match message.payload {
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(found)) => {
                let header = found.header;
                if let (IpAddr::V4(peer), true) =
                    (header.socket_id.destination_address, header.send_queue > 0)
                {
                    *waiting.entry(peer).or_default() += u64::from(header.send_queue);
                }
            }
            NetlinkPayload::Done(_) => return Ok(false),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            _ => {}
        }
        // Each message begins at a multiple of four bytes.
        let length = (message.header.length as usize).next_multiple_of(4);
        if length == 0 || length > rest.len() {
            break;
        }
        rest = &rest[length..];
    }
    Ok(true)
}
