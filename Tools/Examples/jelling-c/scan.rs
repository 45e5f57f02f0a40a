//! Scans with libjelling from Rust, without any crate: the whole loop is here.
//!
//!     rustc --edition 2021 -O -L FOLDER -l jelling scan.rs     # FOLDER: .build/cross/TARGET/lib
//!     LD_LIBRARY_PATH=FOLDER ./scan unix:PATH|tcp:HOST:PORT [SECONDS]
//!
//! Prints address, strength and name of each device that was heard.
use std::ffi::{c_char, c_void, CStr};
use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

#[repr(C)]
#[derive(Clone, Copy)]
struct Address {
    octets: [u8; 6],
    is_random: u8,
    reserved: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    data: *const u8,
    length: usize,
}

#[repr(C)]
struct Discovery {
    address: Address,
    has_address: u8,
    is_connectable: u8,
    is_scannable: u8,
    is_extended: u8,
    rssi: i8,
    tx_power: i8,
    reserved: u16,
    time: i64,
    advertisement: Bytes,
    scan_response: Bytes,
}

#[repr(C)]
struct Event {
    size: u32,
    kind: u32,
    operation: u64,
    link: u64,
    client: u32,
    reserved: u32,
    /// One of many things that an event may hold: this one where `kind` is `DISCOVERED`.
    discovered: Discovery,
}

/// Only the beginning: a structure may be shorter than the library's, and the rest is the default.
#[repr(C)]
struct Config {
    size: u32,
    flags: u32,
    device_name: *const c_char,
    security: *const c_void,
    own_address: u32,
    address: Address,
}

const FAILED: u32 = 3;
const DISCOVERED: u32 = 6;

type Handle = *mut c_void;

extern "C" {
    fn jelling_create(config: *const Config, engine: *mut Handle) -> i32;
    fn jelling_destroy(engine: Handle) -> i32;
    fn jelling_transport_opened(engine: Handle, now: i64) -> i32;
    fn jelling_receive_stream(engine: Handle, bytes: *const u8, length: usize, now: i64) -> i32;
    fn jelling_drain(engine: Handle, send: extern "C" fn(*mut c_void, *const u8, usize), context: *mut c_void) -> i32;
    fn jelling_advance(engine: Handle, now: i64) -> i32;
    fn jelling_next_deadline(engine: Handle, deadline: *mut i64) -> i32;
    fn jelling_next_event(engine: Handle, event: *mut *const Event) -> i32;
    fn jelling_scan(engine: Handle, request: *const c_void, now: i64, operation: *mut u64) -> i32;
    fn jelling_status_text(status: i32) -> *const c_char;
}

/// An engine of the library, destroyed at the end of its scope.
struct Engine(Handle);

impl Drop for Engine {
    fn drop(&mut self) {
        unsafe { jelling_destroy(self.0) };
    }
}

fn check(status: i32) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    let text = unsafe { CStr::from_ptr(jelling_status_text(status)) };
    Err(Error::new(ErrorKind::Other, text.to_string_lossy()))
}

impl Engine {
    fn new() -> Result<Engine, Error> {
        let address = Address { octets: [0xC0, 1, 2, 3, 4, 6], is_random: 1, reserved: 0 };
        let config = Config {
            size: std::mem::size_of::<Config>() as u32,
            flags: 0,
            device_name: b"Rust\0".as_ptr().cast(),
            security: std::ptr::null(),
            own_address: 0,
            address,
        };
        let mut handle = std::ptr::null_mut();
        check(unsafe { jelling_create(&config, &mut handle) })?;
        Ok(Engine(handle))
    }

    /// Packets for the controller.
    fn drain(&self) -> Result<Vec<u8>, Error> {
        extern "C" fn keep(context: *mut c_void, packet: *const u8, length: usize) {
            let octets = unsafe { &mut *context.cast::<Vec<u8>>() };
            octets.extend_from_slice(unsafe { std::slice::from_raw_parts(packet, length) });
        }
        let mut octets: Vec<u8> = Vec::new();
        check(unsafe { jelling_drain(self.0, keep, (&mut octets as *mut Vec<u8>).cast()) })?;
        Ok(octets)
    }

    /// The next event, which the library lends until the next call.
    fn event(&mut self) -> Result<Option<&Event>, Error> {
        let mut event = std::ptr::null();
        check(unsafe { jelling_next_event(self.0, &mut event) })?;
        Ok(unsafe { event.as_ref() })
    }
}

fn octets(bytes: &Bytes) -> &[u8] {
    if bytes.length == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(bytes.data, bytes.length) }
}

/// The name in advertising data.
fn name_of(data: &[u8]) -> Option<String> {
    let mut rest = data;
    while rest.len() > 1 && rest[0] > 0 && rest.len() > rest[0] as usize {
        let (structure, next) = rest.split_at(rest[0] as usize + 1);
        if structure[1] == 8 || structure[1] == 9 {
            return Some(String::from_utf8_lossy(&structure[2..]).into_owned());
        }
        rest = next;
    }
    None
}

enum Transport {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Transport {
    fn open(name: &str) -> Result<Transport, Error> {
        match name.split_once(':') {
            Some(("unix", path)) => Ok(Transport::Unix(UnixStream::connect(path)?)),
            Some(("tcp", place)) => Ok(Transport::Tcp(TcpStream::connect(place)?)),
            _ => Err(Error::new(ErrorKind::InvalidInput, "a transport is unix:PATH or tcp:HOST:PORT")),
        }
    }

    fn send(&mut self, octets: &[u8]) -> Result<(), Error> {
        match self {
            Transport::Unix(stream) => stream.write_all(octets),
            Transport::Tcp(stream) => stream.write_all(octets),
        }
    }

    /// Waits for octets; zero when none came in time.
    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> Result<usize, Error> {
        let wait = Some(wait.max(Duration::from_millis(1)));
        let result = match self {
            Transport::Unix(stream) => stream.set_read_timeout(wait).and_then(|_| stream.read(buffer)),
            Transport::Tcp(stream) => stream.set_read_timeout(wait).and_then(|_| stream.read(buffer)),
        };
        match result {
            Ok(0) => Err(Error::new(ErrorKind::UnexpectedEof, "the controller is gone")),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(0),
            other => other,
        }
    }
}

fn run(name: &str, seconds: f64) -> Result<(), Error> {
    let start = Instant::now();
    let now = || start.elapsed().as_micros() as i64;
    let end = (seconds * 1e6) as i64;
    let mut transport = Transport::open(name)?;
    let mut engine = Engine::new()?;
    let mut buffer = [0; 16384];
    check(unsafe { jelling_transport_opened(engine.0, now()) })?;
    check(unsafe { jelling_scan(engine.0, std::ptr::null(), now(), std::ptr::null_mut()) })?;
    while now() < end {
        let packets = engine.drain()?;
        transport.send(&packets)?;
        while let Some(event) = engine.event()? {
            if event.kind == FAILED {
                return Err(Error::new(ErrorKind::Other, "the controller does not respond"));
            }
            if event.kind != DISCOVERED {
                continue;
            }
            let found = &event.discovered;
            let parts: Vec<String> = found.address.octets.iter().map(|octet| format!("{octet:02X}")).collect();
            let name = name_of(octets(&found.advertisement)).or_else(|| name_of(octets(&found.scan_response)));
            println!("{} {} {}", parts.join(":"), found.rssi, name.unwrap_or_default());
        }
        let mut deadline = -1;
        check(unsafe { jelling_next_deadline(engine.0, &mut deadline) })?;
        let until = if deadline < 0 { end } else { deadline.min(end) };
        let count = transport.receive(&mut buffer, Duration::from_micros((until - now()).max(0) as u64))?;
        if count > 0 {
            check(unsafe { jelling_receive_stream(engine.0, buffer.as_ptr(), count, now()) })?;
        } else {
            check(unsafe { jelling_advance(engine.0, now()) })?;
        }
    }
    Ok(())
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let seconds = words.get(2).and_then(|text| text.parse().ok()).unwrap_or(5.0);
    let done = match words.get(1) {
        Some(name) => run(name, seconds),
        None => Err(Error::new(ErrorKind::InvalidInput, "usage: scan unix:PATH|tcp:HOST:PORT [SECONDS]")),
    };
    if let Err(error) = done {
        eprintln!("scan: {error}");
        std::process::exit(1);
    }
}
