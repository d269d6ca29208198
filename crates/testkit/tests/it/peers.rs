//! The real programs, one at a time. Tests in a module called `peers` share few places (`.config/nextest.toml`).

mod acp_sdk;
mod capture;
mod claude;
mod droid;
mod python_sdk;
