//! The limits of tool inputs and outputs, in one place.

/// Maximum number of lines that one Read call returns.
pub const MAX_READ_LINES: usize = 2400;
/// Maximum number of characters that one Read call returns.
pub const MAX_READ_CHARS: usize = 60_000;
/// Maximum size of a file that a tool opens as text, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// Maximum size of an image for a model, in bytes.
pub const MAX_IMAGE_BYTES: u64 = 5 << 20;
/// Maximum number of pages of a PDF that is given to the model as a document. Each costs it a few thousand tokens.
pub const MAX_DOCUMENT_PAGES: usize = 20;
/// Maximum size of a PDF that is given to the model as a document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 8 << 20;
/// Maximum number of characters of a list (matches, file names, entries) that the model gets. The rest is saved to a file.
pub const MAX_LIST_CHARS: usize = 20_000;
/// Default number of matches of a search that are shown.
pub const MAX_GREP_MATCHES: usize = 500;
/// Number of matches after which a search stops.
pub const MAX_COUNTED_MATCHES: usize = 10_000;
/// Number of bytes of matching lines after which a search stops.
pub const MAX_GREP_BYTES: usize = 8 << 20;
/// Lines of a search result longer than this many bytes are shortened to the surroundings of the match.
pub const MAX_GREP_LINE_BYTES: usize = 500;
/// Number of files after which Glob stops.
pub const MAX_GLOB_FILES: usize = 50_000;
/// Number of entries after which LS stops.
pub const MAX_LS_ENTRIES: usize = 50_000;
/// Maximum number of characters that the results of one message have together. What is longer is saved to a file.
pub const MAX_RESULTS_CHARS: usize = 200_000;
/// Bytes of command output that are kept in memory from its beginning, and as many from its end.
pub const MAX_KEPT_OUTPUT_BYTES: usize = 128 << 10;
/// Command output up to this many bytes is shown whole.
pub const MAX_SHOWN_OUTPUT_BYTES: usize = 32 << 10;
/// Number of lines that are shown from the beginning of a longer output, and as many from its end.
pub const MAX_SHOWN_OUTPUT_LINES: usize = 30;
/// Maximum number of bytes of command output that are saved to a file.
pub const MAX_SAVED_OUTPUT_BYTES: u64 = 64 << 20;
/// Maximum size of a web page, in bytes.
pub const MAX_FETCH_BYTES: usize = 5 << 20;
/// Maximum number of characters of a web page for the model.
pub const MAX_FETCH_CHARS: usize = 60_000;
