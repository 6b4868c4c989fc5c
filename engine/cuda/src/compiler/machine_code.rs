//! Reading machine code for GPUs: an ELF file with a section of instructions for each kernel.

/// A kernel of a CUBIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineCode {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: arrays that are indexed, and values that did not fit the registers.
    pub local_bytes: u32,
    /// The first half of each instruction. The operation is in the lowest bits.
    pub instructions: Vec<u64>,
}

/// Bytes of an instruction, from Volta on.
const INSTRUCTION: usize = 16;

impl MachineCode {
    /// The kernel called `kernel`; `None` if the file has no such kernel or is broken.
    #[must_use]
    pub fn of(cubin: &[u8], kernel: &str) -> Option<Self> {
        let sections = sections(cubin)?;
        let find = |name: &str| sections.iter().find(|section| section.name == name.as_bytes());
        let text = find(&format!(".text.{kernel}"))?;
        // The section's information is the kernel's symbol, which attributes refer to.
        let symbol = text.information & 0xff_ffff;
        let attributes = find(".nv.info")?.bytes;
        Some(Self {
            registers: attribute(attributes, REGISTERS, symbol)?,
            local_bytes: attribute(attributes, FRAME_BYTES, symbol)?,
            instructions: text
                .bytes
                .chunks_exact(INSTRUCTION)
                .map(|bytes| number(bytes, 0, 8))
                .collect::<Option<_>>()?,
        })
    }
}

struct Section<'a> {
    name: &'a [u8],
    information: u32,
    bytes: &'a [u8],
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The sections of a little-endian ELF file of 64 bits.
fn sections(file: &[u8]) -> Option<Vec<Section<'_>>> {
    const NO_BITS: u64 = 8;
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let field = |at, length| number(file, at, length).map(|value| value as usize);
    let (headers, size) = (field(0x28, 8)?, field(0x3a, 2)?);
    let (count, names) = (field(0x3c, 2)?, field(0x3e, 2)?);
    let part = |start: usize, length: usize| file.get(start..start.checked_add(length)?);
    let header = |index: usize| part(headers.checked_add(index * size)?, size);
    let bytes = |header: &[u8]| {
        if number(header, 4, 4)? == NO_BITS {
            return Some(&[][..]);
        }
        part(number(header, 0x18, 8)? as usize, number(header, 0x20, 8)? as usize)
    };
    let names = bytes(header(names)?)?;
    let section = |index: usize| {
        let header = header(index)?;
        let name = names.get(number(header, 0, 4)? as usize..)?;
        let name = name.split(|&byte| byte == 0).next()?;
        Some(Section { name, information: number(header, 0x2c, 4)? as u32, bytes: bytes(header)? })
    };
    (0..count).map(section).collect()
}

/// Names of attributes: registers of a thread, and bytes of its local memory.
const REGISTERS: u8 = 0x2f;
const FRAME_BYTES: u8 = 0x11;

/// An attribute of a kernel. There is a list of entries: a format, a name, and two bytes of value or the
/// length of a value that follows; here that is the kernel's symbol and a number.
fn attribute(mut entries: &[u8], name: u8, symbol: u32) -> Option<u32> {
    const FOLLOWS: u8 = 4;
    while entries.len() >= 4 {
        let (entry, rest) = entries.split_at(4);
        let length = if entry[0] == FOLLOWS { number(entry, 2, 2)? as usize } else { 0 };
        let (value, rest) = rest.split_at_checked(length)?;
        if entry[1] == name && number(value, 0, 4)? == u64::from(symbol) {
            return number(value, 4, 4).map(|value| value as u32);
        }
        entries = rest;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_machine_code_are_refused() {
        let mut header = b"\x7fELF\x02\x01".to_vec();
        assert_eq!(MachineCode::of(&header, "power"), None);
        header.resize(0x40, 0xff);
        assert_eq!(MachineCode::of(&header, "power"), None);
        assert_eq!(MachineCode::of(b"text", "power"), None);
    }
}
