//! The protocol with the front end: input lines, output lines, and the schema. No IO.

pub(crate) mod frame;
pub(crate) mod payload;
pub(crate) mod request;
pub(crate) mod schema;
pub(crate) mod typescript;

#[cfg(test)]
mod tests;
