//! How this agent announces the end of a turn, as far as the connection has shown it.

/// Knowledge about the agent that is kept across turns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Dialect {
    /// Turns end with `agent_turn_completed`, and `idle` means nothing.
    announces_ends: bool,
}

impl Dialect {
    /// From this protocol version on, every turn ends with `agent_turn_completed`. 0.99.0 has 1.15, 0.225.2 has 1.220.
    const FIRST_WITH_ENDS: (u32, u32) = (1, 100);

    /// Learns from the version in a message.
    pub(crate) fn note_version(&mut self, version: Option<&str>) {
        if !self.announces_ends && version.and_then(major_minor) >= Some(Self::FIRST_WITH_ENDS) {
            self.announces_ends = true;
        }
    }

    /// Learns from a turn that was announced as ended.
    pub(crate) fn note_end(&mut self) {
        self.announces_ends = true;
    }

    pub(crate) fn announces_ends(self) -> bool {
        self.announces_ends
    }
}

fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_versions_announce_ends() {
        for (version, announces) in
            [("1.220.0", true), ("1.100.0", true), ("1.15.0", false), ("2.0", true), ("x", false)]
        {
            let mut dialect = Dialect::default();
            dialect.note_version(Some(version));
            assert_eq!(dialect.announces_ends(), announces, "{version}");
        }
        let mut dialect = Dialect::default();
        dialect.note_version(None);
        assert!(!dialect.announces_ends());
        dialect.note_end();
        dialect.note_version(Some("1.15.0"));
        assert!(dialect.announces_ends());
    }
}
