//! A small valid PDF, for tools that read files.

use std::fmt::Write as _;

/// Returns a PDF of one page with this text, followed by a stream of `padding` bytes that no page shows.
///
/// ```
/// let file = testkit::pdf("Hello", 40_000);
/// assert!(file.starts_with(b"%PDF-1.4") && file.len() > 40_000);
/// ```
pub fn pdf(text: &str, padding: usize) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
    let stream = |content: &str| format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len());
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        stream(&content),
        stream(&"x".repeat(padding)),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut table = String::from("0000000000 65535 f \n");
    for (number, object) in (1..).zip(&objects) {
        // writing to a String cannot fail
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    let _ = write!(
        file,
        "xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    );
    file.into_bytes()
}
