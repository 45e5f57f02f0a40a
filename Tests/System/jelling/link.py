"""What is on the air, and a link between it and the host: part of the controller (controller.py)."""
import struct, threading

from jelling.child import PATIENCE, wait_until

ACL, DISCONNECTION_COMPLETE, ENCRYPTION_CHANGE, COMPLETED_PACKETS, KEY_REFRESH = 2, 0x05, 0x08, 0x13, 0x30
REMOTE_USER = 0x13


def octets(address):
    """On the wire: least significant octet first."""
    return bytes.fromhex(address.replace(':', ''))[::-1]


def text(wire):
    return wire[::-1].hex(':').upper()


class Device:
    """Something on the air. `connected(link)` is called for a new link; the link calls its `received` and `ended`."""
    connectable = True
    event_type = 0
    rssi = -50
    scan_response = b''

    def __init__(self, address, random=True, data=b''):
        self.address, self.random, self.data = address, random, data

    def connected(self, link):
        pass

    def received(self, link, channel, payload):
        pass

    def ended(self, link, reason):
        pass

    def find_key(self, link, rand, ediv):
        """The key with which this device, as the peripheral, would encrypt; None when it has none."""


class Link:
    """A link between the host and a device. `host_role`: 0 if the host is the central."""

    def __init__(self, controller, handle, host_role, host_address, device, number):
        self.controller, self.handle, self.host_role, self.device = controller, handle, host_role, device
        self.host_address, self.number = host_address, number     # type and octets, most significant first
        self.address = bytes([device.random]) + octets(device.address)[::-1]
        self.encrypted, self.open, self.reason = False, True, None
        self.parts, self.pending, self.withheld = b'', [], 0
        self.wanted_key = self.encryption = None
        self.changed, self.order, self.framing = threading.Condition(), threading.RLock(), threading.RLock()

    def wait(self, condition, what, seconds=PATIENCE):
        wait_until(condition, f'no {what}', seconds, 0.01)

    def tell(self):
        with self.changed:
            self.changed.notify_all()

    def send(self, channel, payload, size=None):
        """An L2CAP frame to the host, in ACL packets of this many octets. False when the link has ended."""
        return self.send_raw(struct.pack('<HH', len(payload), channel) + payload, size)

    def send_raw(self, data, size=None):
        size = size or self.controller.acl
        # A frame of another thread would end this one in its midst.
        with self.framing:
            for at in range(0, max(len(data), 1), size):
                if not self.open:
                    return False
                part = data[at:at + size]
                flags = 0x1000 if at else 0x2000
                self.controller.send(struct.pack('<BHH', ACL, self.handle | flags, len(part)) + part)
        return True

    def take(self, flags, data):
        """An ACL packet of the host arrived at the device."""
        self.parts = data if flags & 3 != 1 else self.parts + data
        if len(self.parts) >= 4:
            length, channel = struct.unpack_from('<HH', self.parts)
            if len(self.parts) >= 4 + length:
                frame, self.parts = self.parts[4:4 + length], b''
                self.device.received(self, channel, frame)
        self.tell()

    def complete(self, count=None):
        """Number Of Completed Packets, for these or for all that were withheld."""
        count = self.withheld if count is None else count
        self.withheld = max(0, self.withheld - count)
        if self.open and count:
            self.controller.event(COMPLETED_PACKETS, struct.pack('<BHH', 1, self.handle, count))

    def disconnect(self, reason=REMOTE_USER):
        """The device ends the link, or it breaks."""
        self.finish(reason, reason)

    def finish(self, told, reason):
        with self.controller.lock:
            if not self.open:
                return
            self.open, self.reason = False, reason
            self.controller.links.pop(self.handle, None)
        self.controller.event(DISCONNECTION_COMPLETE, struct.pack('<BHB', 0, self.handle, told))
        self.device.ended(self, reason)
        self.tell()

    # Encryption

    def encrypt(self, key, rand=0, ediv=0, seconds=PATIENCE):
        """The device, as the central, encrypts with this key: True, or False where the host has no such key."""
        self.encryption, self.wanted_key = None, key
        self.controller.meta(0x05, struct.pack('<HQH', self.handle, rand, ediv))
        self.wait(lambda: self.encryption is not None or not self.open, 'answer to the key request', seconds)
        return self.open and self.encryption == 0

    def change_encryption(self, status, on=1):
        """Encryption Change; or, where it is on already, Encryption Key Refresh Complete."""
        refresh = self.encrypted and on
        if not status:
            self.encrypted = bool(on)
        if refresh:
            self.controller.event(KEY_REFRESH, struct.pack('<BH', status, self.handle))
        else:
            self.controller.event(ENCRYPTION_CHANGE, struct.pack('<BHB', status, self.handle, 0 if status else on))
        self.encryption = status
        self.tell()
