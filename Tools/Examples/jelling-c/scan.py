#!/usr/bin/env python3
"""Scans with libjelling from Python, without any other package: the whole loop is here.

  scan.py libjelling.so.0 unix:PATH|tcp:HOST:PORT [SECONDS]

Prints address, strength and name of each device that was heard."""
import ctypes, select, socket, sys, time
from ctypes import POINTER, Structure, byref, c_char_p, c_int8, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

DISCOVERED, FAILED = 6, 3
NAMES = (8, 9)


class Address(Structure):
    _fields_ = [('octets', c_uint8 * 6), ('is_random', c_uint8), ('reserved', c_uint8)]


class Bytes(Structure):
    _fields_ = [('data', POINTER(c_uint8)), ('length', c_size_t)]


class Discovery(Structure):
    _fields_ = [('address', Address), ('has_address', c_uint8), ('is_connectable', c_uint8), ('is_scannable', c_uint8),
                ('is_extended', c_uint8), ('rssi', c_int8), ('tx_power', c_int8), ('reserved', c_uint16), ('time', c_int64),
                ('advertisement', Bytes), ('scan_response', Bytes)]


class Event(Structure):
    _fields_ = [('size', c_uint32), ('kind', c_uint32), ('operation', c_uint64), ('link', c_uint64), ('client', c_uint32),
                ('reserved', c_uint32), ('discovered', Discovery)]


class Config(Structure):
    """Only the beginning: a structure may be shorter than the library's, and the rest is the default."""
    _fields_ = [('size', c_uint32), ('flags', c_uint32), ('device_name', c_char_p), ('security', c_void_p),
                ('own_address', c_uint32), ('address', Address)]


SEND = ctypes.CFUNCTYPE(None, c_void_p, POINTER(c_uint8), c_size_t)


class Engine:
    def __init__(self, library):
        self.library, self.handle = library, c_void_p()
        config = Config(size=ctypes.sizeof(Config), device_name=b'Python', address=Address((c_uint8 * 6)(0xC0, 1, 2, 3, 4, 5), 1))
        self.call('create', byref(config), byref(self.handle), engine=False)

    def call(self, name, *arguments, engine=True):
        status = getattr(self.library, 'jelling_' + name)(*([self.handle] if engine else []), *arguments)
        if status:
            text = self.library.jelling_status_text
            text.restype = c_char_p
            raise RuntimeError(f'jelling_{name}: {text(c_int32(status)).decode()}')

    def events(self):
        event = POINTER(Event)()
        while True:
            self.call('next_event', byref(event))
            if not event:
                return
            yield event.contents

    def deadline(self):
        deadline = c_int64()
        self.call('next_deadline', byref(deadline))
        return deadline.value


def now():
    return c_int64(time.monotonic_ns() // 1000)


def open_transport(name):
    kind, _, place = name.partition(':')
    if kind == 'unix':
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(place)
        return connection
    host, _, port = place.rpartition(':')
    return socket.create_connection((host, int(port)))


def name_of(data):
    """The name in advertising data."""
    at = 0
    while at + 1 < len(data) and data[at]:
        if data[at + 1] in NAMES:
            return data[at + 2:at + 1 + data[at]].decode('utf-8', 'replace')
        at += 1 + data[at]
    return ''


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    engine, connection = Engine(ctypes.CDLL(sys.argv[1])), open_transport(sys.argv[2])
    end = time.monotonic() + (float(sys.argv[3]) if len(sys.argv) > 3 else 5)
    send = SEND(lambda _, packet, length: connection.sendall(ctypes.string_at(packet, length)))
    engine.call('transport_opened', now())
    engine.call('scan', None, now(), None)
    while (left := end - time.monotonic()) > 0:
        engine.call('drain', send, None)
        for event in engine.events():
            if event.kind == DISCOVERED:
                found = event.discovered
                data = b''.join(ctypes.string_at(b.data, b.length) for b in (found.advertisement, found.scan_response) if b.length)
                print(':'.join(f'{o:02X}' for o in found.address.octets), found.rssi, name_of(data), flush=True)
            elif event.kind == FAILED:
                sys.exit('the controller does not respond')
        deadline = engine.deadline()
        wait = left if deadline < 0 else max(0, min(left, (deadline - now().value) / 1e6))
        if select.select([connection], [], [], wait)[0]:
            received = connection.recv(65536)
            if not received:
                sys.exit('the controller is gone')
            engine.call('receive_stream', received, c_size_t(len(received)), now())
        else:
            engine.call('advance', now())
    engine.call('destroy')


main()
