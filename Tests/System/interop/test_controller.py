"""Only the controllers: one raw host, written here, on each of them; it must see the same everywhere."""
import socket, struct, time

from pytest import mark

from jelling.child import PATIENCE
from jelling.lab import KINDS
from jelling.relay import split_packets

RESET, SET_EVENT_MASK, DISCONNECT = 0x0C03, 0x0C01, 0x0406
LE_SET_EVENT_MASK, SET_RANDOM_ADDRESS, SET_ADVERTISING_PARAMETERS = 0x2001, 0x2005, 0x2006
SET_ADVERTISING_DATA, SET_SCAN_RESPONSE, SET_ADVERTISING_ENABLE = 0x2008, 0x2009, 0x200A
SET_SCAN_PARAMETERS, SET_SCAN_ENABLE, CREATE_CONNECTION, CANCEL = 0x200B, 0x200C, 0x200D, 0x200E
ADD_TO_ACCEPT_LIST, READ_REMOTE_FEATURES = 0x2011, 0x2016
PERIPHERAL = bytes.fromhex('0102030405c6')
FLAGS = b'\x02\x01\x06'


class Host:
    """Sends raw commands and keeps what it receives. Bounded waits, no logic of its own."""

    def __init__(self, endpoint):
        kind, rest = endpoint.split(':', 1)
        if kind == 'tcp':
            name, port = rest.rsplit(':', 1)
            self.socket = socket.create_connection((name, int(port)), 5)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(rest)
        self.unfinished, self.packets = b'', []

    def pump(self, seconds):
        self.socket.settimeout(max(seconds, 0.001))
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            return True
        except ConnectionResetError:
            return False
        packets, self.unfinished = split_packets(self.unfinished + data)
        self.packets += packets
        return bool(data)

    def wait_for(self, wanted, what, seconds=PATIENCE):
        """Takes the first packet for which `wanted` is true."""
        end = time.monotonic() + seconds
        while True:
            for packet in self.packets:
                if wanted(packet):
                    self.packets.remove(packet)
                    return packet
            assert time.monotonic() < end, f'no {what} in {seconds} s; got {[p.hex() for p in self.packets[-4:]]}'
            assert self.pump(0.05), f'the controller hung up before {what}'

    def event(self, code, subevent=None, seconds=PATIENCE):
        """Parameters of an event; those of an LE event without the subevent code."""
        codes = (subevent,) if isinstance(subevent, int) else subevent
        packet = self.wait_for(
            lambda p: p[0] == 4 and p[1] == code and (codes is None or p[3] in codes), f'event {code:#x} {codes}', seconds)
        return packet[3:] if codes is None else packet[4:]

    def command(self, opcode, parameters=b'', status=0):
        """What the command returned after its status, or nothing where it is only accepted."""
        self.socket.sendall(b'\1' + struct.pack('<HB', opcode, len(parameters)) + parameters)
        number = struct.pack('<H', opcode)
        answer = self.wait_for(lambda p: p[0] == 4 and (p[1] == 0x0E and p[4:6] == number
                                                        or p[1] == 0x0F and p[5:7] == number), f'answer to {opcode:#x}')
        got = answer[6] if answer[1] == 0x0E else answer[3]
        assert got == status, f'status of {opcode:#x}'
        return answer[7:] if answer[1] == 0x0E else b''

    def prepare(self):
        self.command(RESET)
        self.command(SET_EVENT_MASK, b'\xff' * 7 + b'\x3f')
        self.command(LE_SET_EVENT_MASK, b'\xff' * 8)
        return self

    def advertise(self):
        self.command(SET_RANDOM_ADDRESS, PERIPHERAL)
        # Every 100 ms, connectable and scannable, under the random address.
        self.command(SET_ADVERTISING_PARAMETERS, struct.pack('<HHBBB6sBB', 160, 160, 0, 1, 0, bytes(6), 7, 0))
        self.command(SET_ADVERTISING_DATA, bytes([3]) + FLAGS + bytes(28))
        self.command(SET_SCAN_RESPONSE, b'\x03\x02\x0a\x04' + bytes(28))
        self.command(SET_ADVERTISING_ENABLE, b'\1')

    def scan(self):
        self.command(SET_SCAN_PARAMETERS, struct.pack('<BHHBB', 1, 16, 16, 0, 0))
        self.command(SET_SCAN_ENABLE, b'\1\0')

    def connect(self):
        """Handle, role and the peer's type and address."""
        self.command(CREATE_CONNECTION, struct.pack('<HHBB6sBHHHHHH', 16, 16, 0, 1, PERIPHERAL, 0, 24, 24, 0, 100, 0, 0))
        return self.link()

    def link(self):
        complete = self.event(0x3E, (0x01, 0x0A))
        assert complete[0] == 0
        return complete[1:3], complete[3], complete[4], complete[5:11]

    def close(self):
        self.socket.close()


def hosts(lab):
    lab.peer.end()     # a raw host takes its place
    return Host(lab.endpoint).prepare(), Host(lab.peer_endpoint).prepare()


# Bumble's own controller carries no data on a link of these addresses (bumble-stock).
@mark.lab(tuple(kind for kind in KINDS if kind != 'bumble-stock'))
def test_one_link_on_every_controller(lab):
    """a raw host sees the same link on every controller: advertiser, roles, addresses, data, credits, its end"""
    central, peripheral = hosts(lab)
    peripheral.advertise()
    central.scan()
    # Legacy and extended reports: event type, address type, address … data.
    report = central.wait_for(lambda p: p[:2] == b'\4\x3e' and p[3] in (0x02, 0x0D), 'report')
    address = 7 if report[3] == 0x02 else 8
    assert report[address - 1:address + 6] == b'\1' + PERIPHERAL
    assert FLAGS in report, f'no flags in {report.hex()}'
    central.command(SET_SCAN_ENABLE, b'\0\0')

    handle, role, kind, address = central.connect()
    assert (role, kind, address) == (0, 1, PERIPHERAL)
    theirs, role, kind, address = peripheral.link()
    assert (role, kind) == (1, 0)
    if lab.address:
        assert address[::-1].hex(':').upper() == lab.address

    for host, name in ((central, handle), (peripheral, theirs)):
        host.command(READ_REMOTE_FEATURES, name)
        features = host.event(0x3E, 0x04)
        assert (features[0], features[1:3]) == (0, name)
    # A frame of three octets, on the attribute channel, each way.
    for host, name, other, their in ((central, handle, peripheral, theirs), (peripheral, theirs, central, handle)):
        host.socket.sendall(b'\2' + name + struct.pack('<HHH', 7, 3, 4) + b'abc')
        data = other.wait_for(lambda p: p[0] == 2, 'data')
        assert struct.unpack_from('<H', data, 1)[0] & 0x0FFF == struct.unpack('<H', their)[0]
        assert data[2] >> 4 & 3 == 2, f'boundary flag of {data.hex()}'
        assert data[5:] == b'\3\0\4\0abc'
        assert host.event(0x13) == b'\1' + name + b'\1\0'

    peripheral.command(DISCONNECT, theirs + b'\x13')
    assert central.event(0x05) == b'\0' + handle + b'\x13'
    # The specification has 0x16 here; Bumble's and BlueZ's controllers repeat the reason.
    assert peripheral.event(0x05)[:3] == b'\0' + theirs, 'the end was told of another link'
    central.close()
    peripheral.close()


@mark.lab(('bumble', 'simulator', 'simulator-legacy'))
def test_a_withdrawn_connection(lab):
    """a cancelled connection ends with status 0x02, and the next is made (pain 3)"""
    central, peripheral = hosts(lab)
    central.command(CREATE_CONNECTION, struct.pack('<HHBB6sBHHHHHH', 16, 16, 0, 1, PERIPHERAL, 0, 24, 24, 0, 100, 0, 0))
    central.command(CANCEL)
    assert central.event(0x3E, (0x01, 0x0A))[0] == 0x02
    peripheral.advertise()
    handle, _, _, _ = central.connect()
    central.command(DISCONNECT, handle + b'\x13')
    central.event(0x05)
    central.close()
    peripheral.close()


@mark.lab(('bumble', 'simulator', 'simulator-legacy'), through_bridge=False)
def test_one_host_at_a_time(lab):
    """an endpoint serves one host at a time; the next finds a controller as after a reset, and the peer sees 0x08"""
    central, peripheral = hosts(lab)
    second = Host(lab.endpoint)
    end = time.monotonic() + 5
    while second.pump(0.1):
        assert time.monotonic() < end, 'a second host was let in'
    second.close()
    peripheral.advertise()
    handle, _, _, _ = central.connect()
    theirs = peripheral.link()[0]
    # A link that breaks before its first connection event would never have been established: 0x3E.
    central.command(READ_REMOTE_FEATURES, handle)
    central.event(0x3E, 0x04)
    central.command(ADD_TO_ACCEPT_LIST, b'\1' + PERIPHERAL)
    central.scan()
    central.close()     # in the middle of everything
    assert peripheral.event(0x05) == b'\0' + theirs + b'\x08'

    heir = Host(lab.endpoint)
    assert heir.pump(0.5) and not heir.packets, f'packets for nobody: {[p.hex() for p in heir.packets[:3]]}'
    heir.prepare()
    peripheral.command(SET_ADVERTISING_ENABLE, b'\1')
    handle, _, _, _ = heir.connect()
    heir.command(DISCONNECT, handle + b'\x13')
    heir.event(0x05)
    heir.close()
    peripheral.close()
