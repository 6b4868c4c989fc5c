//! Reading machine code for GPUs: an ELF file with a section of instructions for each kernel.

/// A kernel of a CUBIN.
pub(crate) struct MachineCode {
    pub(crate) registers: u32,
    /// Bytes of local memory of a thread: arrays, and what did not fit the registers.
    pub(crate) local_bytes: u32,
    /// The first half of each instruction.
    pub(crate) instructions: Vec<u64>,
}

/// Bytes of an instruction, from Volta on; its operation is in the lowest bits.
const INSTRUCTION: usize = 16;

/// Whether an instruction multiplies 32 by 32 bits into 64 and adds (IMAD.WIDE), or is a multiply-add in
/// double precision (DFMA). Bits 9 to 11 tell where its operands are.
pub(crate) fn is_product(instruction: u64) -> bool {
    matches!(instruction & 0x1ff, 0x025 | 0x02b)
}

/// Whether an instruction is a product of a warpgroup's matrices (IGMMA).
pub(crate) fn is_matrix_product(instruction: u64) -> bool {
    instruction & 0x1ff == 0x1f1
}

/// Whether an instruction waits for such products (WARPGROUP.DEPBAR, not WARPGROUP.ARRIVE).
pub(crate) fn is_wait(instruction: u64) -> bool {
    instruction & 0x1ff == 0x1c5 && instruction >> 47 & 1 == 1
}

impl MachineCode {
    pub(crate) fn of(cubin: &[u8], kernel: &str) -> Self {
        let sections = sections(cubin);
        let find = |name: &str| {
            let found = sections.iter().find(|section| section.name == name);
            found.unwrap_or_else(|| panic!("no section {name}"))
        };
        let text = find(&format!(".text.{kernel}"));
        // The section's information is the kernel's symbol, which attributes refer to.
        let symbol = text.information & 0xff_ffff;
        let attributes = find(".nv.info").bytes;
        Self {
            registers: attribute(attributes, REGISTERS, symbol),
            local_bytes: attribute(attributes, FRAME_BYTES, symbol),
            instructions: text.bytes.chunks_exact(INSTRUCTION).map(|bytes| number(bytes, 0, 8)).collect(),
        }
    }
}

struct Section<'a> {
    name: String,
    information: u32,
    bytes: &'a [u8],
}

fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The sections of an ELF file of 64 bits.
fn sections(file: &[u8]) -> Vec<Section<'_>> {
    assert!(file.starts_with(b"\x7fELF\x02\x01"), "machine code is a little-endian ELF file of 64 bits");
    let (headers, size) = (number(file, 0x28, 8) as usize, number(file, 0x3a, 2) as usize);
    let (count, names) = (number(file, 0x3c, 2) as usize, number(file, 0x3e, 2) as usize);
    let header = |index: usize| &file[headers + index * size..][..size];
    let bytes = |header: &[u8]| {
        const NO_BITS: u64 = 8;
        let (start, length) = (number(header, 0x18, 8) as usize, number(header, 0x20, 8) as usize);
        if number(header, 4, 4) == NO_BITS { &[] } else { &file[start..start + length] }
    };
    let names = bytes(header(names));
    (0..count)
        .map(header)
        .map(|header| {
            let name = &names[number(header, 0, 4) as usize..];
            let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
            Section {
                name: String::from_utf8_lossy(&name[..end]).into_owned(),
                information: number(header, 0x2c, 4) as u32,
                bytes: bytes(header),
            }
        })
        .collect()
}

/// Attributes: registers of a thread, and bytes of its local memory.
const REGISTERS: u8 = 0x2f;
const FRAME_BYTES: u8 = 0x11;

/// An attribute of a kernel. There is a list of entries: a format, a name, and two bytes of value or the
/// length of a value that follows; here that is the kernel's symbol and a number.
fn attribute(mut entries: &[u8], name: u8, symbol: u32) -> u32 {
    const FOLLOWS: u8 = 4;
    while entries.len() >= 4 {
        let (entry, rest) = entries.split_at(4);
        let length = if entry[0] == FOLLOWS { number(entry, 2, 2) as usize } else { 0 };
        let (value, rest) = rest.split_at(length);
        if entry[1] == name && number(value, 0, 4) == u64::from(symbol) {
            return number(value, 4, 4) as u32;
        }
        entries = rest;
    }
    panic!("no attribute {name:#x} of symbol {symbol}")
}
