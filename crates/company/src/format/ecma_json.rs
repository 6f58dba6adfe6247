//! JSON text as ECMAScript prints it: exactly what `JSON.stringify(JSON.parse(text))` gives.
//!
//! Event hashes are taken over that text, so a file that another program wrote, with its own spaces, escapes and
//! numbers, is judged as that program's reader would judge it. Nothing here recurses: a text nested deeper than
//! [`MAX_DEPTH`] is refused, and no text makes it panic.

use std::collections::BTreeMap;

/// How deep arrays and objects may stand in each other.
pub const MAX_DEPTH: usize = 512;

/// Prints `text` as ECMAScript does, or nothing when it is not JSON or nested too deep.
pub fn canonical(text: &str) -> Option<String> {
    canonical_within(text, MAX_DEPTH)
}

/// As [`canonical`] for a text that will stand inside another one.
pub(crate) fn canonical_within(text: &str, max_depth: usize) -> Option<String> {
    Printer::new(text, max_depth)
        .print()
        .map(|printed| printed.text)
}

/// Whether `text` has arrays and objects nested deeper than [`MAX_DEPTH`]. The text need not be JSON.
pub fn nested_too_deep(text: &str) -> bool {
    let opens = |byte: &&u8| matches!(byte, b'[' | b'{');
    // Every level has two brackets, and most lines have few: both are cheaper to see than the depth.
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

/// The members of one object in the order ECMAScript keeps them, each value as its printed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The key with its quotes, and the value, both as printed.
    members: Vec<(String, String)>,
}

impl Object {
    /// Reads an object; nothing when the text is not JSON, not an object, or nested too deep.
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

    /// Gives a member another value in its place, or adds it at the end. The key is a plain name, no array index;
    /// the value is printed text.
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

    /// The whole object.
    pub fn text(&self) -> String {
        print_members(self.members.iter())
    }

    /// The object without one member.
    pub fn text_without(&self, key: &str) -> String {
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

/// Reads a text from left to right and prints into one buffer. Only an object whose members must change places is
/// printed a second time, when it closes.
struct Printer<'a> {
    source: &'a str,
    /// Where in the source the next byte is.
    at: usize,
    out: String,
    /// The arrays and objects that are open, outermost first.
    open: Vec<Open>,
    max_depth: usize,
}

enum Open {
    Array,
    Object(Vec<Member>),
}

/// Where a member stands in the printed text.
#[derive(Clone, Copy)]
struct Member {
    /// The first quote of its key.
    start: usize,
    /// Behind the last quote of its key, where the colon is.
    key_end: usize,
    /// Behind its value.
    end: usize,
}

struct Printed {
    text: String,
    /// The members, when the text is an object.
    members: Option<Vec<Member>>,
}

impl<'a> Printer<'a> {
    fn new(source: &'a str, max_depth: usize) -> Self {
        Self {
            source,
            at: 0,
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
                    self.enter(Open::Object(Vec::new()), '{')?;
                    if self.peek()? != b'}' {
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.enter(Open::Array, '[')?;
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
            // A value, or the bracket that opens an empty one, ended here. Close what closes.
            let mut members = None;
            loop {
                let end = self.out.len();
                let Some(open) = self.open.last_mut() else {
                    let rest = &self.source.as_bytes()[self.at..];
                    return rest.iter().all(is_space).then_some(Printed {
                        text: self.out,
                        members,
                    });
                };
                if let Open::Object(list) = open
                    && let Some(member) = list.last_mut()
                    && member.end == 0
                {
                    member.end = end;
                }
                let object = matches!(open, Open::Object(_));
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

    fn enter(&mut self, open: Open, bracket: char) -> Option<()> {
        if self.open.len() >= self.max_depth {
            return None;
        }
        self.open.push(open);
        self.out.push(bracket);
        Some(())
    }

    /// Closes the innermost array or object. Gives the members when it was an object.
    fn leave(&mut self) -> Option<Vec<Member>> {
        match self.open.pop()? {
            Open::Array => {
                self.out.push(']');
                None
            }
            Open::Object(mut members) => {
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
        let Some(Open::Object(members)) = self.open.last_mut() else {
            return None;
        };
        members.push(Member {
            start,
            key_end,
            end: 0,
        });
        Some(())
    }

    /// Reads the rest of a string whose first quote is behind us.
    fn string(&mut self) -> Option<()> {
        self.out.push('"');
        loop {
            let rest = &self.source.as_bytes()[self.at..];
            let plain = rest
                .iter()
                .position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\')?;
            // The byte that ends the run is ASCII, so the run ends between two characters.
            self.out.push_str(&self.source[self.at..self.at + plain]);
            self.at += plain + 1;
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

    /// Reads what follows a backslash and prints it as ECMAScript would.
    fn escape(&mut self) -> Option<()> {
        let byte = *self.source.as_bytes().get(self.at)?;
        self.at += 1;
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
                    && self.source.as_bytes()[self.at..].starts_with(b"\\u");
                if pair {
                    let before = self.at;
                    self.at += 2;
                    let low = self.unit()?;
                    if let Some(Ok(character)) = char::decode_utf16([unit, low]).next() {
                        self.out.push(character);
                        return Some(());
                    }
                    // Not a pair: the second one is read again, for itself.
                    self.at = before;
                }
                self.unescaped(unit);
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.source.as_bytes().get(self.at..self.at + 4)?;
        let mut unit = 0;
        for &digit in digits {
            unit = unit << 4 | u16::try_from(char::from(digit).to_digit(16)?).ok()?;
        }
        self.at += 4;
        Some(unit)
    }

    /// Prints one UTF-16 unit that is no half of a pair.
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
        // Its first byte is behind us.
        if !self.source.as_bytes()[self.at - 1..].starts_with(word.as_bytes()) {
            return None;
        }
        self.at += word.len() - 1;
        self.out.push_str(word);
        Some(())
    }

    /// Reads a number whose first byte is behind us.
    fn number(&mut self) -> Option<()> {
        let bytes = self.source.as_bytes();
        let start = self.at - 1;
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
        // Up to fifteen digits a double holds exactly, and prints as they stand.
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
        self.at = end;
        let text = &self.source[start..end];
        if plain {
            self.out.push_str(text);
        } else {
            push_number(&mut self.out, text.parse().ok()?);
        }
        Some(())
    }

    /// The next byte that is no white space, without taking it.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.source.as_bytes()[self.at..];
        let spaces = rest.iter().position(|byte| !is_space(byte))?;
        self.at += spaces;
        Some(rest[spaces])
    }

    fn next_byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The order in which the members must stand, when it is another than they stand in: array indices first and
/// ascending, and of members with one key the last value at the first place.
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

/// The number a key stands for when ECMAScript takes it for the index of an array.
fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || key.starts_with(|first: char| matches!(first, '1'..='9'));
    if !canonical || key.len() > 10 || !key.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    key.parse().ok().filter(|&number| number != u32::MAX)
}

/// Prints a number as `Number.prototype.toString` does; what is not finite is `null`.
fn push_number(out: &mut String, number: f64) {
    if !number.is_finite() {
        return out.push_str("null");
    }
    if number == 0.0 {
        // Minus zero has no sign.
        return out.push('0');
    }
    // `-1.2345e-7`: the shortest digits that give the number back, and where its point is.
    let mut scientific = format!("{number:e}");
    // Halfway between two texts of that length ECMAScript takes the even one, which the exact form does too.
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
