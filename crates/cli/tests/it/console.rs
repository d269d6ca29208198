//! `musher console`: its arguments, and the page in a real browser.

mod browser;
mod peers;
mod stage;
