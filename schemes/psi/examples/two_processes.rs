//! Two processes find what their sets have in common, over a TCP connection on this machine.
//!
//! ```console
//! $ cargo run --release -p modmill-psi --example two_processes -- [ITEMS] [GROUP]
//! ```
//!
//! This process is the receiver. It starts itself again as the sender. Each has ITEMS items, and half of them
//! are common. The program checks the answer and prints the rate and the bytes. On one machine both processes
//! share its cores and devices.

use modmill::Engine;
use modmill_psi::{Group, Outcome, Party, Receiver, Sender};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let items: u64 = arguments.get(1).map_or(Ok(10_000), |text| text.parse())?;
    let group: Group = arguments.get(2).map_or(Ok(Group::Ffdhe3072), |text| text.parse())?;
    if arguments.get(3).is_some_and(|text| text == "send") {
        return send(items, group);
    }
    let mut sender = Command::new(std::env::current_exe()?)
        .args([&items.to_string(), group.name(), "send"])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut address = String::new();
    BufReader::new(sender.stdout.take().ok_or("the sender has no output")?).read_line(&mut address)?;
    receive(items, group, address.trim())?;
    let status = sender.wait()?;
    if status.success() { Ok(()) } else { Err(format!("the sender failed: {status}").into()) }
}

/// Customer `n`. The receiver has the customers from 0 on, the sender those from ITEMS / 2 on.
fn customer(n: u64) -> String {
    format!("customer-{n}@example.org")
}

fn send(items: u64, group: Group) -> Result<()> {
    let engine = Engine::new()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let (stream, _) = listener.accept()?;
    let sender = Sender::new(&engine, Party::new(group)?);
    sender.run((items / 2..items / 2 + items).map(customer), &stream, &stream)?;
    Ok(())
}

fn receive(items: u64, group: Group, address: &str) -> Result<()> {
    let engine = Engine::new()?;
    let stream = TcpStream::connect(address)?;
    let receiver = Receiver::new(&engine, Party::new(group)?);
    let (received, sent) = (AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    let outcome =
        receiver.run((0..items).map(customer), Counted(&stream, &received), Counted(&stream, &sent))?;
    let seconds = start.elapsed().as_secs_f64();
    if outcome != Outcome::Items((items / 2..items).collect()) {
        return Err("the intersection is wrong".into());
    }
    println!("{group}: {items} items on each side, {} common: the answer is right", items - items / 2);
    println!("{seconds:.2} s: {:.0} items of each side a second", items as f64 / seconds);
    let [sent, received] = [sent, received].map(|octets| octets.into_inner() / items.max(1));
    println!("octets an item: {sent} from the receiver, {received} from the sender");
    Ok(())
}

/// A stream that counts its bytes.
struct Counted<'a>(&'a TcpStream, &'a AtomicU64);

impl Read for Counted<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(octets)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let count = self.0.write(octets)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
