//! Finds listening sockets of a namespace in the kernel's tables.
//!
//! Parsing only; the caller reads the tables on a thread in the namespace.

use std::io;

/// Returns a line per listening TCP socket of the calling thread's namespace, such as `tcp port 8080`.
pub(crate) fn listening() -> io::Result<Vec<String>> {
    let mut found = parse(&fs_err::read_to_string("/proc/thread-self/net/tcp")?, "tcp");
    // the file does not exist on a kernel without IPv6
    if let Ok(table) = fs_err::read_to_string("/proc/thread-self/net/tcp6") {
        found.extend(parse(&table, "tcp6"));
    }
    Ok(found)
}

/// Columns: slot, local address, remote address, state; `0A` is LISTEN and the port is hexadecimal.
fn parse(table: &str, kind: &str) -> Vec<String> {
    let listener = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (local, _remote, state) = (words.next()?, words.next()?, words.next()?);
        let (_address, port) = local.rsplit_once(':')?;
        (state == "0A").then(|| u16::from_str_radix(port, 16).ok()).flatten()
    };
    table.lines().skip(1).filter_map(listener).map(|port| format!("{kind} port {port}")).collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_sockets_in_state_listen_are_named() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\
                     1: 0100007F:1F90 0100007F:D431 01 00000000:00000000\n";
        assert_eq!(parse(table, "tcp"), ["tcp port 8080"]);
    }
}
