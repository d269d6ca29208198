//! The text of one page: goes through its drawing instructions, and guesses spaces and lines from positions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hayro_syntax::content::UntypedIter;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};
use hayro_syntax::page::{Page, Resources};

use super::font::Font;

/// What a whole file may cost.
pub(super) struct Limits {
    instructions: usize,
    chars: usize,
    is_over: Arc<AtomicBool>,
}

const MAX_INSTRUCTIONS: usize = 10_000_000;
const MAX_CHARS: usize = 4_000_000;
/// Maximum depth of forms within forms.
const MAX_DEPTH: usize = 8;
/// Maximum depth of saved states.
const MAX_STATES: usize = 256;

impl Limits {
    pub(super) fn new(is_over: Arc<AtomicBool>) -> Self {
        Self { instructions: MAX_INSTRUCTIONS, chars: MAX_CHARS, is_over }
    }

    pub(super) fn are_reached(&self) -> bool {
        self.instructions == 0 || self.chars == 0 || self.is_over.load(Ordering::Relaxed)
    }
}

/// Returns the text of a page.
pub(super) fn text(page: &Page<'_>, limits: &mut Limits) -> String {
    let mut reader = Reader { text: String::new(), end: None, limits };
    if let Some(stream) = page.page_stream() {
        reader.run(stream, page.resources(), State::default(), 0);
    }
    reader.text
}

/// A matrix `[a b c d e f]`, as in the instructions.
type Matrix = [f64; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

fn times(m: Matrix, n: Matrix) -> Matrix {
    [
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    ]
}

#[derive(Clone, Copy)]
struct State {
    page: Matrix,
    size: f64,
    char_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
}

impl Default for State {
    fn default() -> Self {
        Self { page: IDENTITY, size: 12.0, char_space: 0.0, word_space: 0.0, scale: 1.0, leading: 0.0 }
    }
}

struct Reader<'l> {
    text: String,
    /// Where the last text ended, and the size of its font there.
    end: Option<(f64, f64, f64)>,
    limits: &'l mut Limits,
}

impl Reader<'_> {
    fn run(&mut self, stream: &[u8], resources: &Resources<'_>, mut state: State, depth: usize) {
        let mut fonts: HashMap<Vec<u8>, Option<Font>> = HashMap::new();
        let (mut saved, mut name) = (Vec::new(), Vec::new());
        let (mut line, mut at) = (IDENTITY, IDENTITY);
        let mut instructions = UntypedIter::new(stream);
        while let Some(instruction) = instructions.next() {
            self.limits.instructions = self.limits.instructions.saturating_sub(1);
            if self.limits.are_reached() {
                return;
            }
            let operands: Vec<&Object<'_>> = instruction.operands().collect();
            let numbers: Vec<f64> = operands.iter().filter_map(|operand| number(operand)).collect();
            let first = numbers.first().copied().unwrap_or(0.0);
            let operator: &[u8] = instruction.operator;
            let font = |fonts: &HashMap<Vec<u8>, Option<Font>>| fonts.get(&name).cloned().flatten();
            match operator {
                b"q" if saved.len() < MAX_STATES => saved.push((state, name.clone())),
                b"Q" => {
                    if let Some((state_before, name_before)) = saved.pop() {
                        (state, name) = (state_before, name_before);
                    }
                }
                b"cm" => state.page = matrix(&numbers).map_or(state.page, |matrix| times(matrix, state.page)),
                b"BT" => (line, at) = (IDENTITY, IDENTITY),
                b"Tf" => {
                    state.size = numbers.last().copied().unwrap_or(state.size);
                    if let Some(Object::Name(given)) = operands.first() {
                        name = AsRef::<[u8]>::as_ref(given).to_vec();
                        fonts
                            .entry(name.clone())
                            .or_insert_with(|| resources.get_font(given).map(|font| Font::read(&font)));
                    }
                }
                b"Tc" => state.char_space = first,
                b"Tw" => state.word_space = first,
                b"Tz" => state.scale = first / 100.0,
                b"TL" => state.leading = first,
                b"Tm" => {
                    if let Some(matrix) = matrix(&numbers) {
                        (line, at) = (matrix, matrix);
                    }
                }
                b"Td" | b"TD" => {
                    let down = numbers.get(1).copied().unwrap_or(0.0);
                    if operator == b"TD" {
                        state.leading = -down;
                    }
                    line = times([1.0, 0.0, 0.0, 1.0, first, down], line);
                    at = line;
                }
                b"T*" | b"'" | b"\"" => {
                    line = times([1.0, 0.0, 0.0, 1.0, 0.0, -state.leading], line);
                    at = line;
                    // a line without a known height is a line nevertheless
                    self.break_line();
                    if let Some(Object::String(string)) = operands.last() {
                        self.show(string.as_bytes(), font(&fonts).as_ref(), &state, &mut at);
                    }
                }
                b"Tj" => {
                    if let Some(Object::String(string)) = operands.last() {
                        self.show(string.as_bytes(), font(&fonts).as_ref(), &state, &mut at);
                    }
                }
                b"TJ" => {
                    if let Some(Object::Array(parts)) = operands.last() {
                        self.show_parts(parts, font(&fonts).as_ref(), &state, &mut at);
                    }
                }
                b"Do" if depth < MAX_DEPTH => {
                    if let Some(Object::Name(given)) = operands.first()
                        && let Some(form) = resources.get_x_object(given)
                    {
                        self.form(&form, resources, state, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn form(&mut self, form: &Stream<'_>, around: &Resources<'_>, mut state: State, depth: usize) {
        let dict = form.dict();
        let is_form =
            dict.get::<Name<'_>>(b"Subtype".as_slice()).is_some_and(|kind| kind.as_ref() == b"Form");
        let Some(data) = is_form.then(|| form.decoded_data().ok()).flatten() else { return };
        if let Some(array) = dict.get::<Array<'_>>(b"Matrix".as_slice()) {
            let numbers: Vec<f64> = array.iter::<Number>().map(|number| number.as_f64()).collect();
            state.page = matrix(&numbers).map_or(state.page, |matrix| times(matrix, state.page));
        }
        match dict.get::<Dict<'_>>(b"Resources".as_slice()) {
            Some(own) => self.run(&data, &Resources::new(own), state, depth + 1),
            None => self.run(&data, around, state, depth + 1),
        }
    }

    fn show_parts(&mut self, parts: &Array<'_>, font: Option<&Font>, state: &State, at: &mut Matrix) {
        for part in parts.iter::<Object<'_>>() {
            match part {
                Object::String(string) => self.show(string.as_bytes(), font, state, at),
                Object::Number(number) => {
                    advance(at, -number.as_f64() / 1000.0 * state.size * state.scale);
                }
                _ => {}
            }
        }
    }

    fn show(&mut self, bytes: &[u8], font: Option<&Font>, state: &State, at: &mut Matrix) {
        let Some(font) = font else { return };
        let start = times(*at, state.page);
        let height = (start[2].hypot(start[3]) * state.size).abs().max(0.1);
        self.separate(start[4], start[5], height);
        for (text, width, is_space) in font.decode(bytes) {
            let chars = text.chars().filter(|c| !c.is_control());
            for c in chars {
                self.limits.chars = self.limits.chars.saturating_sub(1);
                self.text.push(c);
            }
            let word_space = if is_space { state.word_space } else { 0.0 };
            advance(at, (width / 1000.0 * state.size + state.char_space + word_space) * state.scale);
        }
        let end = times(*at, state.page);
        self.end = Some((end[4], end[5], height));
    }

    /// Adds the space or the line break between the last text and one that starts there.
    fn separate(&mut self, x: f64, y: f64, height: f64) {
        let Some((end_x, end_y, last_height)) = self.end else { return };
        let size = height.min(last_height);
        let down = (y - end_y).abs();
        if down > 0.5 * size {
            self.break_line();
            if down > 1.9 * size && !self.text.ends_with("\n\n") {
                self.text.push('\n');
            }
        } else if (x - end_x > 0.18 * size || end_x - x > size) && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn break_line(&mut self) {
        self.end = None;
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

fn advance(at: &mut Matrix, by: f64) {
    *at = times([1.0, 0.0, 0.0, 1.0, by, 0.0], *at);
}

fn number(object: &Object<'_>) -> Option<f64> {
    match object {
        Object::Number(number) => Some(number.as_f64()),
        _ => None,
    }
}

fn matrix(numbers: &[f64]) -> Option<Matrix> {
    numbers.try_into().ok()
}
