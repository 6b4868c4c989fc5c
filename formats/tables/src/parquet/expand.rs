//! Codecs whose decoder expands to as much as they say, whatever the header of the page says.

use parquet::basic::Compression;
use std::io::Read;

/// The bytes that a byte expands to at most.
const LZ4_RATIO: u64 = 256;
const GZIP_RATIO: u64 = 1033;

/// Whether `content` expands to more than `length` bytes. Where the codec cannot reach `free` bytes, nobody
/// looks: the answer is no.
pub(super) fn exceeds(codec: Compression, content: &[u8], length: u64, free: u64) -> bool {
    let reaches = |ratio: u64| ratio.saturating_mul(content.len() as u64) > free;
    match codec {
        Compression::GZIP(_) if reaches(GZIP_RATIO) => {
            is_longer(flate2::read::MultiGzDecoder::new(content), length)
        }
        Compression::LZ4 if reaches(LZ4_RATIO) => {
            is_longer(lz4_flex::frame::FrameDecoder::new(content), length)
        }
        Compression::BROTLI(_) => is_longer(brotli_decompressor::Decompressor::new(content, 1 << 16), length),
        // The others are given memory of the page's length, and fill no more.
        _ => false,
    }
}

/// Whether more than `length` bytes come. An error ends them, here and in the decoder.
fn is_longer(mut bytes: impl Read, length: u64) -> bool {
    let mut buffer = vec![0; 1 << 16];
    let mut total = 0;
    while let Ok(read @ 1..) = bytes.read(&mut buffer) {
        total += read as u64;
        if total > length {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_expands_to_more_than_it_says_is_noticed() {
        let zeros = vec![0; 1 << 22];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&zeros).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        lz4.write_all(&zeros).unwrap();
        let lz4 = lz4.finish().unwrap();
        for (codec, content) in [(Compression::GZIP(Default::default()), &gzip), (Compression::LZ4, &lz4)] {
            assert!(content.len() < zeros.len() / 200, "{codec:?}");
            assert!(exceeds(codec, content, (1 << 22) - 1, 1 << 20));
            assert!(!exceeds(codec, content, 1 << 22, 1 << 20));
            assert!(!exceeds(codec, content, 1, u64::MAX), "nobody looks");
        }
    }
}
