//! Finds in a parsed value what this version of the crate does not know: fields, enum values, kinds.
//!
//! Nothing here affects parsing. It is how `wire-check` tells that the protocol has moved.

use std::collections::BTreeMap;

use crate::{Count, Json};

/// A type that can say what in a value of it is unknown.
pub trait Audit {
    /// Reports everything unknown in `self`.
    fn audit(&self, found: &mut Findings);
}

/// Unknown parts by their place, as `message.content.[].newField` or `newState="napping"`, and how often each was seen.
#[derive(Debug, Default)]
pub struct Findings {
    path: Vec<&'static str>,
    /// Fields and enum values.
    pub unknown: BTreeMap<String, usize>,
    /// Whole objects, of a kind not known at their place.
    pub unknown_kinds: BTreeMap<String, usize>,
}

impl Findings {
    /// Looks into the field `name`.
    pub fn field<T: Audit + ?Sized>(&mut self, name: &'static str, value: &T) {
        self.path.push(name);
        value.audit(self);
        self.path.pop();
    }

    /// Notes a field that the type at this place does not name.
    pub fn unknown_field(&mut self, name: &str) {
        let dot = if self.path.is_empty() { "" } else { "." };
        *self.unknown.entry(format!("{}{dot}{name}", self.place())).or_default() += 1;
    }

    /// Notes an enum value that is not known at this place.
    pub fn unknown_value(&mut self, value: &str) {
        *self.unknown.entry(format!("{}={value:?}", self.place())).or_default() += 1;
    }

    /// Notes an object of a kind that is not known at this place.
    pub fn unknown_kind(&mut self, tag: &str) {
        *self.unknown_kinds.entry(format!("{}={tag:?}", self.place())).or_default() += 1;
    }

    fn place(&self) -> String {
        self.path.join(".")
    }
}

/// Types without an inside that could be unknown.
macro_rules! plain {
    ($($T:ty),*) => { $(impl Audit for $T { fn audit(&self, _: &mut Findings) {} })* };
}
plain!(String, bool, i64, Count, Json);

impl<T: Audit> Audit for Vec<T> {
    fn audit(&self, found: &mut Findings) {
        found.path.push("[]");
        for item in self {
            item.audit(found);
        }
        found.path.pop();
    }
}

impl<T: Audit + ?Sized> Audit for Box<T> {
    fn audit(&self, found: &mut Findings) {
        (**self).audit(found);
    }
}

impl<T: Audit> Audit for Option<T> {
    fn audit(&self, found: &mut Findings) {
        if let Some(value) = self {
            value.audit(found);
        }
    }
}

impl<T: Audit> Audit for BTreeMap<String, T> {
    fn audit(&self, found: &mut Findings) {
        for value in self.values() {
            found.field("*", value);
        }
    }
}
