//! Renders the bar chart of the demo as a PNG.

use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};

const PAPER: Rgb<u8> = Rgb([250, 249, 246]);
const GRID: Rgb<u8> = Rgb([226, 223, 215]);
const BAR: Rgb<u8> = Rgb([47, 111, 94]);
const LAST: Rgb<u8> = Rgb([217, 119, 6]);

/// Renders bars of these heights in percent. The last bar is highlighted.
pub(super) fn bars(percents: &[u32]) -> Vec<u8> {
    let (width, height, margin) = (640, 360, 32);
    let mut chart = RgbImage::from_pixel(width, height, PAPER);
    let floor = height - margin;
    let mut fill = |left: u32, top: u32, right: u32, bottom: u32, colour| {
        for y in top..bottom {
            for x in left..right {
                chart.put_pixel(x, y, colour);
            }
        }
    };
    let reach = floor - margin;
    for line in 0..=4 {
        let y = floor - reach * line / 4;
        fill(margin, y, width - margin, y + 1, GRID);
    }
    let count = u32::try_from(percents.len()).unwrap_or(1).max(1);
    let step = (width - 2 * margin) / count;
    for (index, percent) in (0..count).zip(percents) {
        let left = margin + step * index + step / 5;
        let top = floor - reach * (*percent).min(100) / 100;
        let colour = if index + 1 == count { LAST } else { BAR };
        fill(left, top, left + step * 3 / 5, floor, colour);
    }
    let mut png = Cursor::new(Vec::new());
    chart
        .write_to(&mut png, ImageFormat::Png)
        .expect("memory can be written to");
    png.into_inner()
}
