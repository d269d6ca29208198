//! Finds the parts of a parsed value that this version of the crate does not know: fields, enum values, tags.
//!
//! This does not affect parsing. `wire-check` uses it to detect protocol changes.

use std::collections::BTreeMap;

use crate::{Count, Json};

/// A type that can report the unknown parts of its values.
pub trait Audit {
    /// Reports everything unknown in `self`.
    fn audit(&self, found: &mut Findings);
}

/// Unknown parts by place, such as `message.content.[].newField` or `newState="napping"`, with the number of occurrences.
#[derive(Debug, Default)]
pub struct Findings {
    path: Vec<&'static str>,
    /// Unknown fields and enum values.
    pub unknown: BTreeMap<String, usize>,
    /// Objects with a tag that is unknown at their place.
    pub unknown_kinds: BTreeMap<String, usize>,
}

impl Findings {
    /// Audits the value of the field `name`.
    pub fn field<T: Audit + ?Sized>(&mut self, name: &'static str, value: &T) {
        self.path.push(name);
        value.audit(self);
        self.path.pop();
    }

    /// Records a field that the type at this place does not declare.
    pub fn unknown_field(&mut self, name: &str) {
        let dot = if self.path.is_empty() { "" } else { "." };
        *self.unknown.entry(format!("{}{dot}{name}", self.place())).or_default() += 1;
    }

    /// Records an enum value that is unknown at this place.
    pub fn unknown_value(&mut self, value: &str) {
        *self.unknown.entry(format!("{}={value:?}", self.place())).or_default() += 1;
    }

    /// Records an object with a tag that is unknown at this place.
    pub fn unknown_kind(&mut self, tag: &str) {
        *self.unknown_kinds.entry(format!("{}={tag:?}", self.place())).or_default() += 1;
    }

    fn place(&self) -> String {
        self.path.join(".")
    }
}

/// Types without parts that could be unknown.
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
