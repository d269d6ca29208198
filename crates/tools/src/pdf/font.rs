//! Fonts as far as text needs them: which characters codes stand for, and how wide they are.

use std::collections::HashMap;
use std::rc::Rc;

use hayro_cmap::{BfString, CMap};
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};

use super::encoding;

/// The width of a glyph if the file does not say it, in thousandths of the size.
const USUAL_WIDTH: f64 = 500.0;
/// The width of a glyph of a composite font, by the format.
const COMPOSITE_WIDTH: f64 = 1000.0;
/// Maximum number of widths of a font.
const MAX_WIDTHS: usize = 70_000;

/// A font. Cheap to clone.
#[derive(Clone)]
pub(super) struct Font(Rc<Inner>);

struct Inner {
    to_unicode: Option<CMap>,
    /// Whether codes have two bytes.
    is_composite: bool,
    /// Whether codes are UTF-16.
    is_utf16: bool,
    /// The characters of codes of one byte.
    encoding: Vec<String>,
    widths: HashMap<u32, f64>,
    usual_width: f64,
}

impl Font {
    pub(super) fn read(dict: &Dict<'_>) -> Self {
        let name = |key: &[u8]| dict.get::<Name<'_>>(key).map(|name| name.as_str().to_owned());
        let is_composite = name(b"Subtype").as_deref() == Some("Type0");
        let to_unicode = dict.get::<Stream<'_>>(b"ToUnicode".as_slice());
        let to_unicode = to_unicode.and_then(|stream| CMap::parse(&stream.decoded_data().ok()?, |_| None));
        let encoding_name = name(b"Encoding").unwrap_or_default();
        let (widths, usual_width) = if is_composite { composite_widths(dict) } else { simple_widths(dict) };
        Self(Rc::new(Inner {
            to_unicode,
            is_composite,
            is_utf16: is_composite && (encoding_name.contains("UCS2") || encoding_name.contains("UTF16")),
            encoding: if is_composite { Vec::new() } else { simple_encoding(dict, &encoding_name) },
            widths,
            usual_width,
        }))
    }

    /// Returns the characters of a text, each with its width in thousandths, and whether it is the space of word spacing.
    pub(super) fn decode(&self, bytes: &[u8]) -> Vec<(String, f64, bool)> {
        let font = &*self.0;
        let codes: Vec<u32> = if font.is_composite {
            bytes
                .chunks(2)
                .map(|pair| pair.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
                .collect()
        } else {
            bytes.iter().map(|byte| u32::from(*byte)).collect()
        };
        let width = |code: u32| font.widths.get(&code).copied().unwrap_or(font.usual_width);
        codes
            .into_iter()
            .map(|code| (font.char(code), width(code), !font.is_composite && code == 32))
            .collect()
    }
}

impl Inner {
    fn char(&self, code: u32) -> String {
        match self.to_unicode.as_ref().and_then(|map| map.lookup_bf_string(code)) {
            Some(BfString::Char(c)) => return c.to_string(),
            Some(BfString::String(text)) => return text,
            None => {}
        }
        if self.is_utf16 {
            return char::from_u32(code).map(String::from).unwrap_or_default();
        }
        let known = usize::try_from(code).ok().and_then(|code| self.encoding.get(code));
        known.cloned().unwrap_or_else(|| '\u{fffd}'.to_string())
    }
}

/// Returns the characters of all codes of one byte: a base encoding, and the differences from it.
fn simple_encoding(dict: &Dict<'_>, name: &str) -> Vec<String> {
    let own = dict.get::<Dict<'_>>(b"Encoding".as_slice());
    let base = own.as_ref().and_then(|own| own.get::<Name<'_>>(b"BaseEncoding".as_slice()));
    let base = base.map_or_else(|| name.to_owned(), |base| base.as_str().to_owned());
    let mut chars = encoding::base(&base);
    let differences = own.and_then(|own| own.get::<Array<'_>>(b"Differences".as_slice()));
    let mut code = 0;
    for entry in differences.iter().flat_map(Array::iter::<Object<'_>>) {
        match entry {
            Object::Number(number) => code = usize::try_from(number.as_i64()).unwrap_or(usize::MAX),
            Object::Name(glyph) => {
                if let Some(known) = chars.get_mut(code) {
                    *known = encoding::glyph(glyph.as_str()).unwrap_or_else(|| std::mem::take(known));
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    chars
}

fn simple_widths(dict: &Dict<'_>) -> (HashMap<u32, f64>, f64) {
    let first = dict.get::<Number>(b"FirstChar".as_slice()).map_or(0, |number| number.as_i64());
    let first = u32::try_from(first).unwrap_or(0);
    let widths = dict.get::<Array<'_>>(b"Widths".as_slice());
    let widths = widths.iter().flat_map(Array::iter::<Number>).take(256);
    ((first..).zip(widths.map(|width| width.as_f64())).collect(), USUAL_WIDTH)
}

/// Reads `[first [w w w] first last w ...]`.
fn composite_widths(dict: &Dict<'_>) -> (HashMap<u32, f64>, f64) {
    let descendants = dict.get::<Array<'_>>(b"DescendantFonts".as_slice());
    let font = descendants.and_then(|descendants| descendants.iter::<Dict<'_>>().next());
    let Some(font) = font else { return (HashMap::new(), COMPOSITE_WIDTH) };
    let usual = font.get::<Number>(b"DW".as_slice()).map_or(COMPOSITE_WIDTH, |number| number.as_f64());
    let mut widths = HashMap::new();
    let mut numbers = Vec::new();
    let entries = font.get::<Array<'_>>(b"W".as_slice());
    for entry in entries.iter().flat_map(Array::iter::<Object<'_>>) {
        match entry {
            Object::Number(number) => numbers.push(number.as_f64()),
            Object::Array(list) => {
                let first = numbers.last().copied().unwrap_or(0.0);
                widths.extend(
                    (code(first)..).zip(list.iter::<Number>().map(|width| width.as_f64())).take(MAX_WIDTHS),
                );
                numbers.clear();
            }
            _ => {}
        }
        if let [first, last, width] = numbers[..] {
            let codes = code(first)..=code(last);
            widths.extend(codes.take(MAX_WIDTHS).map(|code| (code, width)));
            numbers.clear();
        }
        if widths.len() > MAX_WIDTHS {
            break;
        }
    }
    (widths, usual)
}

fn code(number: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range first")]
    let code = number.clamp(0.0, 65_535.0) as u32;
    code
}
