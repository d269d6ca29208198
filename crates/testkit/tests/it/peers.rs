//! The real programs, one at a time. Few tests in modules named `peers` run at once (`.config/nextest.toml`).

mod acp_sdk;
mod capture;
mod claude;
mod droid;
mod python_sdk;
