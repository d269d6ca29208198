//! Types that several messages share.

mod content;
mod count;
mod enums;
mod mcp;
mod message;
mod model;
mod settings;
mod usage;

pub use content::*;
pub use count::Count;
pub use enums::*;
pub use mcp::*;
pub use message::*;
pub use model::*;
pub use settings::*;
pub use usage::*;
