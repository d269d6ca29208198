//! Address rules: which addresses a client connects to, checked by number after the lookup.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses a client connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AddressRule {
    /// Only addresses of the public internet, for URLs from outside: no loopback, private or link-local network, however the
    /// address is written and whatever a name resolves to.
    ///
    /// Through a proxy, the proxy looks up the name. The client looks it up first, and rejects it if one of the addresses is not
    /// public. If the lookup fails, as in networks where only the proxy resolves external names, the name must have the form of
    /// a public one: two labels or more, the last not a number and not reserved for local use.
    Public,
    /// All addresses.
    #[default]
    Any,
}

impl AddressRule {
    /// Returns whether the rule allows an address.
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Public => is_public(address),
        }
    }
}

/// Returns whether a name that cannot be looked up locally may be a name of the public internet.
pub(crate) fn is_public_name(host: &str) -> bool {
    // RFC 6761, 6762, 8375, 9476 and the names that ICANN reserves for private use
    const LOCAL: [&str; 12] = [
        "localhost",
        "local",
        "internal",
        "intranet",
        "private",
        "corp",
        "home",
        "lan",
        "home.arpa",
        "onion",
        "test",
        "alt",
    ];
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let Some((_, last)) = host.rsplit_once('.') else { return false };
    // programs parse names that end in a number as IPv4 addresses, in different ways
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    let is_local = LOCAL
        .iter()
        .any(|name| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    host.split('.').all(is_label) && !is_number && !is_local
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // shared address space of internet providers
        || (a == 100 && (64..128).contains(&b))
        // protocol assignments, relays, benchmarks
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded(address) {
        return is_public_v4(inner);
    }
    let [first, second, ..] = address.segments();
    // only the assigned range, without documentation, Teredo and other protocol assignments
    first & 0xe000 == 0x2000 && !(first == 0x2001 && (second < 0x0200 || second == 0x0db8)) && first != 0x3fff
}

/// Returns the IPv4 address embedded in an IPv6 address: mapped, NAT64 or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let join = |at: usize| Ipv4Addr::from((u32::from(segments[at]) << 16) | u32::from(segments[at + 1]));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(join(6)),
        [0x2002, ..] => Some(join(1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        let public =
            ["1.1.1.1", "8.8.8.8", "93.184.216.34", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1"];
        let private = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.2.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "::127.0.0.1",
            "3fff::1",
        ];
        for text in public {
            assert!(AddressRule::Public.allows(text.parse().unwrap()), "{text}");
        }
        for text in private {
            assert!(!AddressRule::Public.allows(text.parse().unwrap()), "{text}");
            assert!(AddressRule::Any.allows(text.parse().unwrap()));
        }
    }
    #[test]
    fn names_for_local_use_and_numbers_are_not_public_names() {
        for name in ["example.com", "a.b-c.example.com.", "xn--bcher-kva.example", "under_score.example.com"]
        {
            assert!(is_public_name(name), "{name}");
        }
        let local = [
            "localhost",
            "localhost.",
            "a.localhost",
            "intranet",
            "wiki.corp",
            "printer.local",
            "metadata.google.internal",
            "router.home.arpa",
            "2130706433",
            "0x7f.1",
            "127.0.0.1.",
            "a.0x7f000001",
            "127.0.0.%31",
            "a..b.com",
            "[::1]",
            "",
            ".",
        ];
        for name in local {
            assert!(!is_public_name(name), "{name}");
        }
        assert!(is_public_name("notlocal.example"));
        assert!(is_public_name("a.mylan.com"));
    }
}
