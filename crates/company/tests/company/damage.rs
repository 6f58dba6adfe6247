//! Reproducible ways to damage a file.

use std::{fs, path::Path};

use crate::filled::put;

/// Pseudorandom numbers with a fixed seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits")
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.next() % limit.max(1)
    }
}

/// Damages a file and returns a description of the damage.
pub(crate) fn damage(numbers: &mut Numbers, file: &Path, content: &[u8]) -> &'static str {
    let at = numbers.below(content.len());
    match numbers.below(7) {
        0 => {
            put(file, &content[..at]);
            "cut off"
        }
        1 => {
            let mut content = content.to_vec();
            content[at] ^= 1 << numbers.below(8);
            put(file, content);
            "with a bit turned"
        }
        2 => {
            fs::remove_file(file).expect("it was there");
            "gone"
        }
        3 => {
            fs::remove_file(file).expect("it was there");
            fs::create_dir(file).expect("there is room");
            "a folder"
        }
        4 => {
            let noise: Vec<u8> = (0..64).map(|_| numbers.below(256) as u8).collect();
            put(file, noise);
            "noise"
        }
        // Replaces the value on one line of YAML by one of another type; other files are changed in the same way.
        5 | 6 => {
            const VALUES: [&str; 10] = [
                "[1, {a: b}]",
                "{}",
                "null",
                "-5",
                "1e999",
                "true",
                "\"\"",
                "99999999999999999999",
                "&a [*a]",
                "!!binary x",
            ];
            let text = String::from_utf8_lossy(content);
            let mut lines: Vec<_> = text.lines().map(ToOwned::to_owned).collect();
            let line = numbers.below(lines.len());
            let value = VALUES[numbers.below(VALUES.len())];
            let key = lines[line].split(':').next().unwrap_or_default().to_owned();
            lines[line] = format!("{key}: {value}");
            put(file, lines.join("\n"));
            "with another value"
        }
        _ => unreachable!("below seven"),
    }
}
