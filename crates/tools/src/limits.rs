//! How much a tool takes and gives, in one place.

/// Lines of a file that are read at once.
pub const READ_LINES: usize = 2400;
/// Characters of a file that are read at once.
pub const READ_CHARS: usize = 60_000;
/// The largest file a tool opens as text.
pub const FILE_BYTES: u64 = 64 << 20;
/// The largest picture that is shown to a model.
pub const IMAGE_BYTES: u64 = 5 << 20;
/// Matching lines of a search.
pub const GREP_MATCHES: usize = 500;
/// The longest line of a search that is shown whole, in bytes.
pub const GREP_LINE: usize = 2000;
/// Files of a listing.
pub const GLOB_FILES: usize = 2000;
/// Output of a command that is kept in memory at its beginning, and again at its end.
pub const OUTPUT_KEPT: usize = 128 << 10;
/// Output of a command that is shown whole.
pub const OUTPUT_SHOWN: usize = 32 << 10;
/// Lines shown of the beginning of a longer output, and again of its end.
pub const OUTPUT_LINES: usize = 30;
/// Output of a command that is saved to a file.
pub const OUTPUT_SAVED: u64 = 64 << 20;
/// Bytes of a web page.
pub const FETCH_BYTES: usize = 5 << 20;
/// Characters of a web page that are given to the model.
pub const FETCH_CHARS: usize = 60_000;
