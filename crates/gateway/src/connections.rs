//! Limits the connections of the port and selects which connection to close when a limit is reached.
//!
//! A connection is unauthenticated (a stranger) until a request on it presents a valid token or a desktop session.
//! Strangers may use only a part of all slots, and one address only a part of those. When that part is used up, the
//! stranger whose last complete request is oldest is closed in favour of the new connection, so that idle connections
//! cannot lock out other clients. Authenticated connections are never closed for a new one.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

/// The maximum numbers of connections.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The maximum number of all connections.
    total: usize,
    /// The maximum number of unauthenticated connections. The remaining slots are reserved for authenticated ones.
    strangers: usize,
    /// The maximum number of unauthenticated connections from one address.
    strangers_per_address: usize,
}

impl Limits {
    /// The default limits. A browser opens six connections and an agent one or two, and each is unauthenticated only
    /// for milliseconds, so even a busy machine stays far below its share.
    const USUAL: Self = Self {
        total: 1024,
        strangers: 512,
        strangers_per_address: 256,
    };
}

/// All connections of a port.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    state: Mutex<State>,
    /// Notified whenever a connection is closed.
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// A counter of connections and requests that orders them by time.
    last_number: u64,
    open: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    /// The normalized address that identifies one machine; see [`machine`].
    machine: IpAddr,
    standing: Authentication,
    closing: Arc<Notify>,
}

#[derive(Debug)]
enum Authentication {
    /// The connection has not authenticated.
    Stranger {
        /// The counter value of its last complete request, or of its start.
        last_request: u64,
    },
    /// A request on the connection has authenticated.
    Known,
}

/// The slot of one connection. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    closing: Arc<Notify>,
    is_answering: AtomicBool,
}

impl Connections {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_limits(Limits::USUAL)
    }

    fn with_limits(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            state: Mutex::default(),
            left: Notify::new(),
        })
    }

    /// Reserves a slot for a new connection. Waits while authenticated connections hold all slots.
    pub(crate) async fn enter(self: &Arc<Self>, address: IpAddr) -> ConnectionSlot {
        loop {
            if let Some(slot) = self.try_enter(address) {
                return slot;
            }
            self.left.notified().await;
        }
    }

    fn try_enter(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let machine = machine(address);
        let mut state = self.state();
        if state.strangers(Some(machine)).count() >= self.limits.strangers_per_address {
            state.close_oldest_stranger(Some(machine));
        } else if state.strangers(None).count() >= self.limits.strangers
            || state.open.len() >= self.limits.total
        {
            state.close_oldest_stranger(None);
        }
        if state.open.len() >= self.limits.total {
            return None;
        }
        let number = state.next_number();
        let closing = Arc::new(Notify::new());
        let connection = Connection {
            machine,
            standing: Authentication::Stranger {
                last_request: number,
            },
            closing: Arc::clone(&closing),
        };
        state.open.insert(number, connection);
        Some(ConnectionSlot {
            connections: Arc::clone(self),
            number,
            closing,
            is_answering: AtomicBool::new(false),
        })
    }

    /// Closes the oldest unauthenticated connection, if any, when the operating system cannot accept another one.
    pub(crate) fn close_one_stranger(&self) {
        self.state().close_oldest_stranger(None);
    }

    /// Waits until every connection is closed.
    pub(crate) async fn all_left(&self) {
        while !self.state().open.is_empty() {
            self.left.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Returns the unauthenticated connections of a machine, or of all machines, as pairs of last request and
    /// connection number.
    fn strangers(&self, from: Option<IpAddr>) -> impl Iterator<Item = (u64, u64)> {
        self.open.iter().filter_map(move |(number, connection)| {
            let is_from = from.is_none_or(|machine| machine == connection.machine);
            match connection.standing {
                Authentication::Stranger { last_request } if is_from => {
                    Some((last_request, *number))
                }
                Authentication::Stranger { .. } | Authentication::Known => None,
            }
        })
    }

    fn close_oldest_stranger(&mut self, from: Option<IpAddr>) {
        let oldest = self.strangers(from).min();
        if let Some(connection) = oldest.and_then(|(_, number)| self.open.remove(&number)) {
            connection.closing.notify_one();
        }
    }
}

impl ConnectionSlot {
    /// Records that a request was received completely and marks the connection as answering.
    pub(crate) fn begin_answer(self: &Arc<Self>) -> Answering {
        self.is_answering.store(true, Ordering::Release);
        let mut state = self.connections.state();
        let number = state.next_number();
        if let Some(connection) = state.open.get_mut(&self.number)
            && let Authentication::Stranger { last_request } = &mut connection.standing
        {
            *last_request = number;
        }
        drop(state);
        Answering(Arc::clone(self))
    }

    /// Returns whether a response is in progress. If not, the next request has not been received completely.
    pub(crate) fn is_answering(&self) -> bool {
        self.is_answering.load(Ordering::Acquire)
    }

    /// Marks the connection as authenticated.
    pub(crate) fn authenticated(&self) {
        if let Some(connection) = self.connections.state().open.get_mut(&self.number) {
            connection.standing = Authentication::Known;
        }
    }

    /// Waits until the connection has to be closed in favour of another one.
    pub(crate) async fn closing(&self) {
        self.closing.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.state().open.remove(&self.number);
        self.connections.left.notify_one();
    }
}

/// Marks a response in progress. Dropping it clears the mark.
#[derive(Debug)]
pub(crate) struct Answering(Arc<ConnectionSlot>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.is_answering.store(false, Ordering::Release);
    }
}

/// Returns the address that stands for a machine: all loopback addresses are one machine, and an IPv6 host can use all
/// 2⁶⁴ addresses of its network.
fn machine(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        address if address.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            Ipv6Addr::from(network).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(
        total: usize,
        strangers: usize,
        strangers_per_address: usize,
    ) -> Arc<Connections> {
        Connections::with_limits(Limits {
            total,
            strangers,
            strangers_per_address,
        })
    }

    fn enter(connections: &Arc<Connections>, address: &str) -> Option<Arc<ConnectionSlot>> {
        let slot = connections.try_enter(address.parse().unwrap());
        slot.map(Arc::new)
    }

    fn is_open(slot: &ConnectionSlot) -> bool {
        slot.connections.state().open.contains_key(&slot.number)
    }

    #[test]
    fn a_new_stranger_takes_the_place_of_the_one_that_was_silent_for_longest() {
        let connections = connections(9, 3, 9);
        let places =
            ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(|from| enter(&connections, from).unwrap());
        drop(places[0].begin_answer());
        let newest = enter(&connections, "10.0.0.4").unwrap();
        let open = places.each_ref().map(|slot| is_open(slot));
        assert_eq!(open, [true, false, true]);
        assert!(is_open(&newest));
    }

    #[test]
    fn an_address_pushes_out_its_own_connections_first() {
        let connections = connections(9, 9, 2);
        let quiet = enter(&connections, "10.0.0.1").unwrap();
        let busy = [(); 3].map(|()| enter(&connections, "10.0.0.2").unwrap());
        assert!(is_open(&quiet));
        let open = busy.each_ref().map(|slot| is_open(slot));
        assert_eq!(open, [false, true, true]);
    }

    #[test]
    fn strangers_leave_places_for_known_peers_and_never_close_them() {
        let connections = connections(3, 1, 9);
        let known = [(); 2].map(|()| {
            let slot = enter(&connections, "::1").unwrap();
            slot.authenticated();
            slot
        });
        let strangers = [(); 5].map(|()| enter(&connections, "127.0.0.1").unwrap());
        assert!(known.iter().all(|slot| is_open(slot)));
        assert!(strangers[..4].iter().all(|slot| !is_open(slot)));
        strangers[4].authenticated();
        assert!(enter(&connections, "127.0.0.1").is_none());
        drop(known);
        assert!(enter(&connections, "127.0.0.1").is_some());
    }

    #[tokio::test]
    async fn a_full_port_lets_the_next_one_in_when_a_known_peer_leaves() {
        let connections = connections(1, 1, 1);
        let first = enter(&connections, "10.0.0.1").unwrap();
        first.authenticated();
        let second = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { connections.enter("10.0.0.2".parse().unwrap()).await }
        });
        drop(first);
        drop(second.await.unwrap());
        connections.all_left().await;
    }

    #[tokio::test]
    async fn a_connection_that_makes_room_is_told() {
        let connections = connections(1, 1, 1);
        let first = enter(&connections, "10.0.0.1").unwrap();
        let _second = enter(&connections, "10.0.0.2").unwrap();
        first.closing().await;
    }

    #[test]
    fn addresses_of_one_machine_count_together() {
        let same = |left: &str, right: &str| {
            machine(left.parse().unwrap()) == machine(right.parse().unwrap())
        };
        assert!(same("127.0.0.1", "127.9.9.9"));
        assert!(same("127.0.0.1", "::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(same("2001:db8::1", "2001:db8::ffff:1"));
        assert!(!same("2001:db8:0:1::1", "2001:db8:0:2::1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
    }
}
