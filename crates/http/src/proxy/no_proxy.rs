//! Hosts that are connected to without a proxy: the list in `NO_PROXY`, and loopback.

use std::net::{IpAddr, Ipv6Addr};

/// The entries of `NO_PROXY`.
#[derive(Debug, Clone, Default)]
pub(super) struct NoProxy(Vec<Entry>);

#[derive(Debug, Clone)]
struct Entry {
    target: Target,
    /// The only port that the entry applies to; absent means all.
    port: Option<u16>,
}

#[derive(Debug, Clone)]
enum Target {
    Everything,
    /// A domain and its subdomains, in lower case.
    Domain(String),
    /// All addresses with this prefix of this length in bits, as IPv6.
    Network(Ipv6Addr, u32),
}

impl NoProxy {
    /// Parses entries separated by commas or spaces.
    pub(super) fn parse(list: &str) -> Self {
        let entries = list.split(|c: char| c == ',' || c.is_whitespace()).filter(|entry| !entry.is_empty());
        Self(entries.map(Entry::parse).collect())
    }

    /// Returns whether a host, without brackets, is listed.
    pub(super) fn matches(&self, host: &str, port: u16) -> bool {
        let address = address(host);
        let host = normal(host);
        self.0.iter().any(|entry| {
            entry.port.is_none_or(|only| only == port)
                && match &entry.target {
                    Target::Everything => true,
                    Target::Domain(domain) => {
                        address.is_none()
                            && host
                                .strip_suffix(domain.as_str())
                                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                    }
                    Target::Network(network, bits) => {
                        address.is_some_and(|address| prefix(address, *bits) == prefix(*network, *bits))
                    }
                }
        })
    }
}

impl Entry {
    fn parse(text: &str) -> Self {
        let (host, port) = split_port(text);
        let target = if host == "*" {
            Target::Everything
        } else if let Some((network, bits)) = network(host) {
            Target::Network(network, bits)
        } else {
            let domain = normal(host);
            let domain = domain.strip_prefix("*.").or_else(|| domain.strip_prefix('.')).unwrap_or(&domain);
            Target::Domain(domain.to_owned())
        };
        Self { target, port }
    }
}

/// Splits off the port. An IPv6 address needs brackets to have one.
fn split_port(text: &str) -> (&str, Option<u16>) {
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return (address, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_not_a_port) => (text, None),
        },
        _ => (text, None),
    }
}

/// Parses an address, or a network in the form `10.0.0.0/8`.
fn network(text: &str) -> Option<(Ipv6Addr, u32)> {
    let (base, bits) = text.split_once('/').map_or((text, None), |(base, bits)| (base, Some(bits)));
    let base: IpAddr = base.parse().ok()?;
    let max_bits = if base.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Some(max_bits), |bits| bits.parse().ok().filter(|bits| *bits <= max_bits))?;
    Some((wide(base), 128 - max_bits + bits))
}

fn address(host: &str) -> Option<Ipv6Addr> {
    host.parse().ok().map(wide)
}

fn wide(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

fn prefix(address: Ipv6Addr, bits: u32) -> u128 {
    u128::from(address).checked_shr(128 - bits).unwrap_or(0)
}

/// Returns a name in lower case, without trailing dot.
fn normal(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Returns whether a host, without brackets, is the local machine.
pub(super) fn is_loopback(host: &str) -> bool {
    if let Ok(address) = host.parse::<IpAddr>() {
        let address = address.to_canonical();
        return address.is_loopback() || address.is_unspecified();
    }
    let host = normal(host);
    host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_matches_domains_addresses_networks_and_ports() {
        let cases: [(&str, &[&str], &[&str]); 13] = [
            ("*", &["anything.example", "10.1.2.3", "::1"], &[]),
            (
                "example.com",
                &["example.com", "EXAMPLE.com.", "a.b.example.com"],
                &["notexample.com", "example.com.evil", "com"],
            ),
            (".example.com", &["example.com", "a.example.com"], &["notexample.com"]),
            ("*.Example.com", &["a.example.com", "example.com"], &["xexample.com"]),
            (
                "10.0.0.0/8",
                &["10.0.0.1", "10.255.255.255", "::ffff:10.1.1.1"],
                &["11.0.0.1", "10.example.com"],
            ),
            ("192.168.1.128/25", &["192.168.1.200"], &["192.168.1.5"]),
            ("0.0.0.0/0", &["1.2.3.4"], &["2001:db8::1", "example.com"]),
            ("192.168.1.7", &["192.168.1.7"], &["192.168.1.70", "x.192.168.1.7"]),
            ("fd00::/8,[2001:db8::1]", &["fd12::1", "2001:db8::1"], &["fe80::1", "2001:db8::2"]),
            ("::/0", &["::1", "1.2.3.4"], &["example.com"]),
            (" a.example , b.example c.example,,", &["a.example", "b.example", "c.example"], &["d.example"]),
            ("10.0.0.0/33, 10.0.0.0/x, :80, a.example:port", &[], &["10.0.0.1", "example.com", "a.example"]),
            ("", &[], &["example.com", "10.0.0.1"]),
        ];
        for (list, inside, outside) in cases {
            let no_proxy = NoProxy::parse(list);
            for host in inside {
                assert!(no_proxy.matches(host, 443), "{host} is in `{list}`");
            }
            for host in outside {
                assert!(!no_proxy.matches(host, 443), "{host} is not in `{list}`");
            }
        }
    }

    #[test]
    fn no_proxy_entry_with_a_port_matches_that_port_only() {
        let no_proxy = NoProxy::parse("example.com:8443,10.0.0.1:80,[2001:db8::1]:81,10.1.0.0/16:82,*:9");
        for (host, port) in [
            ("example.com", 8443),
            ("a.example.com", 8443),
            ("10.0.0.1", 80),
            ("2001:db8::1", 81),
            ("10.1.2.3", 82),
            ("x", 9),
        ] {
            assert!(no_proxy.matches(host, port), "{host} {port}");
            assert!(!no_proxy.matches(host, port + 1), "{host} {port}");
        }
    }

    #[test]
    fn loopback_is_recognized_in_every_form() {
        for host in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "::ffff:127.0.0.1",
            "0.0.0.0",
            "::",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example.com", "notlocalhost", "10.0.0.1", "128.0.0.1", "fe80::1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
