//! The text of a PDF, for models that do not read PDFs.
//!
//! A PDF may be hostile. The parser is made for that, and runs on a thread of its own with a large stack, a deadline, and limits on what
//! it goes through; a panic in it is an error of the file. Encrypted files are read if they need no password.

mod encoding;
mod font;
mod page;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use hayro_syntax::{LoadPdfError, Pdf};
use tokio_util::sync::CancellationToken;

use page::Limits;

/// Maximum time for one file.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How often a waiting caller looks whether its call was cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);
/// Stack for nested objects.
const STACK_BYTES: usize = 64 << 20;
/// Maximum size of a file, in bytes.
pub(crate) const MAX_BYTES: usize = 32 << 20;
/// Maximum number of pages whose text is read.
const MAX_PAGES: usize = 2_000;

/// What a PDF contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// The number of pages.
    pub(crate) pages: usize,
    /// The text with a line before each page; empty unless it was asked for, or if there is none.
    pub(crate) text: String,
}

/// Reads a PDF: the number of its pages, and their text if `with_text`. Blocks. The error says what is wrong with the file.
pub(crate) fn read(bytes: Vec<u8>, with_text: bool, cancel: &CancellationToken) -> Result<Content, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("it has {} MB, and the maximum is {} MB", bytes.len() >> 20, MAX_BYTES >> 20));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let limits = Limits::new(Arc::clone(&is_over));
    let (sender, received) = channel();
    let work = move || {
        let read = catch_unwind(AssertUnwindSafe(|| content(bytes, with_text, limits)));
        let failed = |_panic| Err("its content is malformed".to_owned());
        // fails if the caller has stopped waiting
        sender.send(read.unwrap_or_else(failed)).ok();
    };
    let started = thread::Builder::new().name("pdf".to_owned()).stack_size(STACK_BYTES).spawn(work);
    started.map_err(|error| format!("it could not be read: {error}"))?;
    let deadline = Instant::now() + TIMEOUT;
    let result = loop {
        match received.recv_timeout(CANCEL_INTERVAL) {
            Ok(result) => break result,
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                break Err("the call was cancelled".to_owned());
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(RecvTimeoutError::Timeout) => {
                break Err(format!("reading it took more than {} seconds", TIMEOUT.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => break Err("its content is malformed".to_owned()),
        }
    };
    // ends the thread soon, if it still runs
    is_over.store(true, Ordering::Relaxed);
    result
}

fn content(bytes: Vec<u8>, with_text: bool, mut limits: Limits) -> Result<Content, String> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(_) => "it is encrypted with a password".to_owned(),
        LoadPdfError::Invalid => "it is not a valid PDF".to_owned(),
    })?;
    let pages = pdf.pages();
    let count = pages.len();
    if count == 0 {
        return Err("it has no pages".to_owned());
    }
    let mut all = String::new();
    let mut has_text = false;
    for (page, number) in pages.iter().take(if with_text { MAX_PAGES } else { 0 }).zip(1..) {
        let text = page::text(page, &mut limits);
        has_text |= !text.trim().is_empty();
        // writing to a string cannot fail
        writeln!(all, "--- Page {number} of {count} ---\n{}", text.trim_end()).ok();
        if limits.are_reached() {
            all.push_str("[The rest of the file is not shown: it is too long.]\n");
            break;
        }
    }
    Ok(Content { pages: count, text: if has_text { all } else { String::new() } })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a PDF with these content streams as pages, and one font.
    pub(crate) fn pdf(pages: &[&str], font: &str, more: &[&str]) -> Vec<u8> {
        let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
        let first = 4 + more.len();
        let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", first + 2 * page)).collect();
        objects.push(format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()));
        objects.push(font.to_owned());
        objects.extend(more.iter().map(|object| (*object).to_owned()));
        for (page, content) in pages.iter().enumerate() {
            let stream = first + 2 * page + 1;
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {stream} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            ));
            objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
        }
        let mut file = String::from("%PDF-1.4\n");
        let mut places = Vec::new();
        for (number, object) in (1..).zip(&objects) {
            places.push(file.len());
            writeln!(file, "{number} 0 obj\n{object}\nendobj").unwrap();
        }
        let start = file.len();
        write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
        for place in places {
            writeln!(file, "{place:010} 00000 n ").unwrap();
        }
        let size = objects.len() + 1;
        write!(file, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").unwrap();
        file.into_bytes()
    }

    pub(crate) const HELVETICA: &str =
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

    fn text(bytes: Vec<u8>) -> String {
        read(bytes, true, &CancellationToken::new()).unwrap().text
    }

    #[test]
    fn lines_and_words_of_all_pages_are_read() {
        let first = "BT /F1 12 Tf 72 700 Td (Hello) Tj 0 -14 Td (wor) Tj [(ld) -600 (of caf\\351s)] TJ ET";
        let second = "q 1 0 0 1 0 50 cm BT /F1 10 Tf 1 0 0 1 72 600 Tm (Second) Tj T* (page) ' ET Q";
        let all = text(pdf(&[first, second], HELVETICA, &[]));
        assert_eq!(all, "--- Page 1 of 2 ---\nHello\nworld of cafés\n--- Page 2 of 2 ---\nSecond\npage\n");
    }

    #[test]
    fn to_unicode_map_and_glyph_names_decide_the_characters() {
        let map = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange \
                   2 beginbfchar <0001> <0048> <0002> <00660069> endbfchar endcmap";
        let map = format!("<< /Length {} >>\nstream\n{map}\nendstream", map.len());
        let composite =
            "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 4 0 R >>";
        let all = text(pdf(&["BT /F1 12 Tf 10 10 Td <00010002> Tj ET"], composite, &[&map]));
        assert!(all.ends_with("\nHfi\n"), "{all}");
        let named = "<< /Type /Font /Subtype /Type1 /BaseFont /X /Encoding << /Differences [65 /fi /uni00E9 /quoteright /x.alt] >> >>";
        let all = text(pdf(&["BT /F1 12 Tf 10 10 Td (ABCDE) Tj ET"], named, &[]));
        assert!(all.ends_with("\nfié’xE\n"), "{all}");
    }

    #[test]
    fn pages_are_counted_without_reading_their_text() {
        let bytes = pdf(&["", "", ""], HELVETICA, &[]);
        let content = read(bytes.clone(), false, &CancellationToken::new()).unwrap();
        assert_eq!(content, Content { pages: 3, text: String::new() });
        assert_eq!(text(bytes), "", "a file without text gives no page lines");
    }

    #[test]
    fn broken_files_are_errors_and_never_panics() {
        let good = pdf(&["BT /F1 12 Tf (x) Tj ET"], HELVETICA, &[]);
        let error = read(b"%PDF-1.7 nothing".to_vec(), true, &CancellationToken::new()).unwrap_err();
        assert!(error.contains("not a valid PDF") || error.contains("no pages"), "{error}");
        // every prefix, and every byte replaced: most are still PDFs, none may end the process
        for end in (0..good.len()).step_by(23) {
            read(good[..end].to_vec(), true, &CancellationToken::new()).ok();
            let mut changed = good.clone();
            changed[end] = b'<';
            read(changed, true, &CancellationToken::new()).ok();
        }
        let nested = format!("BT {}{} ET", "[".repeat(100_000), "]".repeat(100_000));
        read(pdf(&[&nested], HELVETICA, &[]), true, &CancellationToken::new()).ok();
    }

    #[test]
    fn form_that_contains_itself_ends() {
        let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X 4 0 R >> /Font << /F1 3 0 R >> >> /Length 31 >>\nstream\nBT /F1 9 Tf (deep) Tj ET /X Do \nendstream";
        let mut bytes = pdf(&["/X Do"], HELVETICA, &[form]);
        let text_of = String::from_utf8(std::mem::take(&mut bytes)).unwrap();
        let file = text_of.replace("/Font << /F1 3 0 R >> >> >>", "/XObject << /X 4 0 R >>    >> >>");
        assert!(text(file.into_bytes()).contains("deep"));
    }
}
