//! JSON text in the format of ECMAScript: exactly the result of `JSON.stringify(JSON.parse(text))`.
//!
//! Event hashes are computed over that text, so a file written by another program, with different white space, escapes
//! and number formats, verifies as it does in that program. The parser is not recursive: text nested deeper than
//! [`MAX_DEPTH`] is rejected, and no input causes a panic.

use std::collections::BTreeMap;

/// Maximum nesting depth of arrays and objects.
pub const MAX_DEPTH: usize = 512;

/// Prints `text` as ECMAScript does; `None` if it is not JSON or nested too deep.
pub fn canonical(text: &str) -> Option<String> {
    canonical_within(text, MAX_DEPTH)
}

/// Like [`canonical`] with another depth limit, for text that becomes part of a larger value.
pub(crate) fn canonical_within(text: &str, max_depth: usize) -> Option<String> {
    Printer::new(text, max_depth)
        .print()
        .map(|printed| printed.text)
}

/// Whether `text` has arrays and objects nested deeper than [`MAX_DEPTH`]. The text need not be JSON.
pub(crate) fn nested_too_deep(text: &str) -> bool {
    let opens = |byte: &&u8| matches!(byte, b'[' | b'{');
    // Every level needs two brackets, so the length and the number of opening brackets are cheap upper bounds.
    if text.len() <= 2 * MAX_DEPTH || text.as_bytes().iter().filter(opens).count() <= MAX_DEPTH {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// The members of one object in ECMAScript order, each value as printed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Key with its quotes, and value, both as printed.
    members: Vec<(String, String)>,
}

impl Object {
    /// Parses an object; `None` if the text is not JSON, not an object, or nested too deep.
    pub fn parse(text: &str) -> Option<Self> {
        let printed = Printer::new(text, MAX_DEPTH).print()?;
        let members = printed.members?.into_iter().map(|member| {
            (
                printed.text[member.start..member.key_end].to_owned(),
                printed.text[member.key_end + 1..member.end].to_owned(),
            )
        });
        Some(Self {
            members: members.collect(),
        })
    }

    /// The printed text of a member's value.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.members
            .iter()
            .find(|member| is_key(&member.0, key))
            .map(|member| member.1.as_str())
    }

    /// Replaces the value of a member, or appends the member. The key must be a plain name that needs no escapes and is
    /// not an array index; the value is printed text.
    pub fn set(&mut self, key: &str, value: String) {
        match self
            .members
            .iter_mut()
            .find(|member| is_key(&member.0, key))
        {
            Some(member) => member.1 = value,
            None => self.members.push((format!("\"{key}\""), value)),
        }
    }

    /// The printed text of the whole object.
    pub fn text(&self) -> String {
        print_members(self.members.iter())
    }

    /// The printed text of the object without one member.
    pub(crate) fn text_without(&self, key: &str) -> String {
        print_members(self.members.iter().filter(|member| !is_key(&member.0, key)))
    }
}

fn is_key(quoted: &str, key: &str) -> bool {
    quoted.get(1..quoted.len() - 1) == Some(key)
}

fn print_members<'a>(members: impl Iterator<Item = &'a (String, String)>) -> String {
    let mut text = String::from("{");
    for (key, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(key);
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// Single-pass parser and printer with one output buffer. Only an object whose members must be reordered is printed a
/// second time, when it closes.
struct Printer<'a> {
    source: &'a str,
    /// Position of the next byte in the source.
    position: usize,
    out: String,
    /// Open arrays and objects, outermost first.
    open: Vec<OpenContainer>,
    max_depth: usize,
}

enum OpenContainer {
    Array,
    Object(Vec<Member>),
}

/// Position of a member in the printed text.
#[derive(Clone, Copy)]
struct Member {
    /// Opening quote of the key.
    start: usize,
    /// End of the key, where the colon is.
    key_end: usize,
    /// End of the value; 0 while the value is not complete.
    end: usize,
}

struct Printed {
    text: String,
    /// Members of the object; absent if the text is not an object.
    members: Option<Vec<Member>>,
}

impl<'a> Printer<'a> {
    fn new(source: &'a str, max_depth: usize) -> Self {
        Self {
            source,
            position: 0,
            out: String::with_capacity(source.len()),
            open: Vec::new(),
            max_depth,
        }
    }

    fn print(mut self) -> Option<Printed> {
        loop {
            // A value begins here.
            match self.next_byte()? {
                b'{' => {
                    self.enter(OpenContainer::Object(Vec::new()), '{')?;
                    if self.peek()? != b'}' {
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.enter(OpenContainer::Array, '[')?;
                    if self.peek()? != b']' {
                        continue;
                    }
                }
                b'"' => self.string()?,
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return None,
            }
            // A value is complete, or an empty array or object was just opened. Process the closing brackets that
            // follow.
            let mut members = None;
            loop {
                let end = self.out.len();
                let Some(open) = self.open.last_mut() else {
                    let rest = &self.source.as_bytes()[self.position..];
                    return rest.iter().all(is_space).then_some(Printed {
                        text: self.out,
                        members,
                    });
                };
                if let OpenContainer::Object(list) = open
                    && let Some(member) = list.last_mut()
                    && member.end == 0
                {
                    member.end = end;
                }
                let object = matches!(open, OpenContainer::Object(_));
                match (self.next_byte()?, object) {
                    (b',', true) => {
                        self.out.push(',');
                        self.peek()?;
                        self.key()?;
                        break;
                    }
                    (b',', false) => {
                        self.out.push(',');
                        break;
                    }
                    (b'}', true) | (b']', false) => members = self.leave(),
                    _ => return None,
                }
            }
        }
    }

    fn enter(&mut self, open: OpenContainer, bracket: char) -> Option<()> {
        if self.open.len() >= self.max_depth {
            return None;
        }
        self.open.push(open);
        self.out.push(bracket);
        Some(())
    }

    /// Closes the innermost array or object. Returns the members if it was an object.
    fn leave(&mut self) -> Option<Vec<Member>> {
        match self.open.pop()? {
            OpenContainer::Array => {
                self.out.push(']');
                None
            }
            OpenContainer::Object(mut members) => {
                if let Some(order) = order_to_change(&self.out, &members) {
                    members = self.reorder(&members, &order);
                }
                self.out.push('}');
                Some(members)
            }
        }
    }

    fn reorder(&mut self, members: &[Member], order: &[usize]) -> Vec<Member> {
        let begin = members[0].start;
        let old = self.out.split_off(begin);
        let mut moved = Vec::with_capacity(order.len());
        for &index in order {
            if self.out.len() > begin {
                self.out.push(',');
            }
            let member = members[index];
            let start = self.out.len();
            self.out
                .push_str(&old[member.start - begin..member.end - begin]);
            moved.push(Member {
                start,
                key_end: start + (member.key_end - member.start),
                end: self.out.len(),
            });
        }
        moved
    }

    /// Reads `"key":`.
    fn key(&mut self) -> Option<()> {
        let start = self.out.len();
        if self.next_byte()? != b'"' {
            return None;
        }
        self.string()?;
        let key_end = self.out.len();
        if self.next_byte()? != b':' {
            return None;
        }
        self.out.push(':');
        let Some(OpenContainer::Object(members)) = self.open.last_mut() else {
            return None;
        };
        members.push(Member {
            start,
            key_end,
            end: 0,
        });
        Some(())
    }

    /// Reads the rest of a string after its opening quote.
    fn string(&mut self) -> Option<()> {
        self.out.push('"');
        loop {
            let rest = &self.source.as_bytes()[self.position..];
            let plain = rest
                .iter()
                .position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\')?;
            // The byte that ends the run is ASCII, so the run ends at a character boundary.
            self.out
                .push_str(&self.source[self.position..self.position + plain]);
            self.position += plain + 1;
            match rest[plain] {
                b'"' => {
                    self.out.push('"');
                    return Some(());
                }
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    /// Reads an escape sequence after its backslash and prints the character as ECMAScript does.
    fn escape(&mut self) -> Option<()> {
        let byte = *self.source.as_bytes().get(self.position)?;
        self.position += 1;
        match byte {
            b'"' => self.out.push_str("\\\""),
            b'\\' => self.out.push_str("\\\\"),
            b'/' => self.out.push('/'),
            b'b' | b'f' | b'n' | b'r' | b't' => {
                self.out.push('\\');
                self.out.push(char::from(byte));
            }
            b'u' => {
                let unit = self.unit()?;
                let pair = matches!(unit, 0xd800..=0xdbff)
                    && self.source.as_bytes()[self.position..].starts_with(b"\\u");
                if pair {
                    let before = self.position;
                    self.position += 2;
                    let low = self.unit()?;
                    if let Some(Ok(character)) = char::decode_utf16([unit, low]).next() {
                        self.out.push(character);
                        return Some(());
                    }
                    // Not a surrogate pair: the second escape is read again on its own.
                    self.position = before;
                }
                self.unescaped(unit);
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Option<u16> {
        let digits = self
            .source
            .as_bytes()
            .get(self.position..self.position + 4)?;
        let mut unit = 0;
        for &digit in digits {
            unit = unit << 4 | u16::try_from(char::from(digit).to_digit(16)?).ok()?;
        }
        self.position += 4;
        Some(unit)
    }

    /// Prints one UTF-16 unit that is not part of a surrogate pair.
    fn unescaped(&mut self, unit: u16) {
        match char::from_u32(u32::from(unit)) {
            Some('"') => self.out.push_str("\\\""),
            Some('\\') => self.out.push_str("\\\\"),
            Some('\u{8}') => self.out.push_str("\\b"),
            Some('\t') => self.out.push_str("\\t"),
            Some('\n') => self.out.push_str("\\n"),
            Some('\u{c}') => self.out.push_str("\\f"),
            Some('\r') => self.out.push_str("\\r"),
            Some(character) if character >= ' ' => self.out.push(character),
            _ => self.out.push_str(&format!("\\u{unit:04x}")),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        // The caller has consumed the first byte.
        if !self.source.as_bytes()[self.position - 1..].starts_with(word.as_bytes()) {
            return None;
        }
        self.position += word.len() - 1;
        self.out.push_str(word);
        Some(())
    }

    /// Reads a number whose first byte the caller has consumed.
    fn number(&mut self) -> Option<()> {
        let bytes = self.source.as_bytes();
        let start = self.position - 1;
        let digits = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let negative = bytes[start] == b'-';
        let mut end = start + usize::from(negative);
        let whole = digits(end);
        if whole == 0 || whole > 1 && bytes[end] == b'0' {
            return None;
        }
        end += whole;
        // A double represents integers of up to fifteen digits exactly, so they are copied unchanged.
        let mut plain = whole <= 15 && !(negative && bytes[end - 1] == b'0' && whole == 1);
        if bytes.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            if fraction == 0 {
                return None;
            }
            end += 1 + fraction;
            plain = false;
        }
        if let Some(b'e' | b'E') = bytes.get(end) {
            let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
            let from = end + 1 + usize::from(signed);
            let exponent = digits(from);
            if exponent == 0 {
                return None;
            }
            end = from + exponent;
            plain = false;
        }
        self.position = end;
        let text = &self.source[start..end];
        if plain {
            self.out.push_str(text);
        } else {
            push_number(&mut self.out, text.parse().ok()?);
        }
        Some(())
    }

    /// Skips white space and returns the next byte without consuming it.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.source.as_bytes()[self.position..];
        let spaces = rest.iter().position(|byte| !is_space(byte))?;
        self.position += spaces;
        Some(rest[spaces])
    }

    fn next_byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.position += 1;
        Some(byte)
    }
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The required order of the members, if it differs from the current one: array indices first in ascending order, and
/// for a duplicate key the last value at the first position.
fn order_to_change(out: &str, members: &[Member]) -> Option<Vec<usize>> {
    if members.len() < 2 {
        return None;
    }
    let key = |member: &Member| &out[member.start + 1..member.key_end - 1];
    let mut order: Vec<usize> = Vec::with_capacity(members.len());
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, member) in members.iter().enumerate() {
        match places.get(key(member)) {
            Some(&place) => order[place] = index,
            None => {
                places.insert(key(member), order.len());
                order.push(index);
            }
        }
    }
    order.sort_by_key(|&index| match array_index(key(&members[index])) {
        Some(number) => (0, number),
        None => (1, 0),
    });
    let same = order.len() == members.len() && order.is_sorted();
    (!same).then_some(order)
}

/// The number of a key that ECMAScript treats as an array index.
fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || key.starts_with(|first: char| matches!(first, '1'..='9'));
    if !canonical || key.len() > 10 || !key.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    key.parse().ok().filter(|&number| number != u32::MAX)
}

/// Prints a number as `Number.prototype.toString` does; infinity becomes `null`.
fn push_number(out: &mut String, number: f64) {
    if !number.is_finite() {
        return out.push_str("null");
    }
    if number == 0.0 {
        // Negative zero prints without a sign.
        return out.push('0');
    }
    // The shortest digits that round-trip, and the exponent: `-1.2345e-7`.
    let mut scientific = format!("{number:e}");
    // If the number lies halfway between two candidates of that length, ECMAScript chooses the even one, and so does
    // formatting with an explicit precision.
    let fraction = scientific
        .split_once('.')
        .map_or(0, |(_, rest)| rest.find('e').unwrap_or(0));
    let even = format!("{number:.fraction$e}");
    if even.parse() == Ok(number) {
        scientific = even;
    }
    let (mantissa, exponent) = scientific
        .split_once('e')
        .expect("the exponent form has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a small integer");
    let mantissa = match mantissa.strip_prefix('-') {
        Some(rest) => {
            out.push('-');
            rest
        }
        None => mantissa,
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).expect("a double has at most 17 digits");
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    match exponent {
        0..21 if count <= exponent + 1 => {
            out.push_str(&digits);
            out.push_str(&zeros(exponent + 1 - count));
        }
        0..21 => {
            let (whole, fraction) = digits.split_at(usize::try_from(exponent + 1).unwrap_or(0));
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        -6..0 => {
            out.push_str("0.");
            out.push_str(&zeros(-exponent - 1));
            out.push_str(&digits);
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            out.push_str(first);
            if !rest.is_empty() {
                out.push('.');
                out.push_str(rest);
            }
            out.push_str(if exponent < 0 { "e-" } else { "e+" });
            out.push_str(&exponent.unsigned_abs().to_string());
        }
    }
}

#[cfg(test)]
mod tests;
