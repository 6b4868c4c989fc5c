//! Connections that are open, in all and by address.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Counts connections.
#[derive(Default)]
pub(super) struct Addresses(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// A connection that counts until it is dropped.
pub(super) struct Counted {
    addresses: Arc<Addresses>,
    address: IpAddr,
}

impl Addresses {
    /// Counts a connection, or says which limit it is above: `full` or `address`. An address may have more as
    /// long as no fewer stay free than it has then, so that who comes last finds room. Where one address may
    /// have all, as behind a load balancer, it has.
    pub(super) fn enter(
        self: &Arc<Self>,
        address: IpAddr,
        most: usize,
        most_of_address: usize,
    ) -> Result<Counted, &'static str> {
        // The addresses of one IPv6 network of 64 bits belong to one host or household.
        let address = match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            address => address,
        };
        let mut counts = self.0.lock();
        if counts.all >= most {
            return Err("full");
        }
        let own = counts.by_address.get(&address).copied().unwrap_or(0) + 1;
        let free = most - counts.all - 1;
        if own > most_of_address || (most_of_address < most && own > free) {
            return Err("address");
        }
        counts.by_address.insert(address, own);
        counts.all += 1;
        drop(counts);
        Ok(Counted { addresses: Arc::clone(self), address })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.addresses.0.lock();
        counts.all -= 1;
        if let Some(of_address) = counts.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                counts.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_in_all_and_by_address() {
        let addresses = Arc::new(Addresses::default());
        let enter = |text: &str| addresses.enter(text.parse().unwrap(), 8, 2);
        let one = enter("10.0.0.1").unwrap();
        let _two = enter("::ffff:10.0.0.1").unwrap();
        assert_eq!(enter("10.0.0.1").err(), Some("address"));
        let _three = enter("2001:db8::1").unwrap();
        let _four = enter("2001:db8::2").unwrap();
        assert_eq!(enter("2001:db8::3").err(), Some("address"));
        drop(one);
        assert!(enter("10.0.0.1").is_ok());
    }

    #[test]
    fn who_comes_last_finds_room() {
        let addresses = Arc::new(Addresses::default());
        let mut open = Vec::new();
        for host in 1..=10 {
            let before = open.len();
            while let Ok(counted) = addresses.enter(IpAddr::from([10, 0, 0, host]), 100, 30) {
                open.push(counted);
            }
            assert!(open.len() > before || open.len() >= 99, "address {host} of {} connections", open.len());
        }
        // One address may have all where the limit says so.
        let addresses = Arc::new(Addresses::default());
        let enter = || addresses.enter(IpAddr::from([10, 0, 0, 1]), 4, 4);
        let all: Vec<_> = std::iter::from_fn(|| enter().ok()).collect();
        assert_eq!((all.len(), enter().err()), (4, Some("full")));
    }
}
