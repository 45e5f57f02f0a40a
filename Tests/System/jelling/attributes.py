"""A scripted attribute server, and the codec of attribute PDUs that peer.py needs. Independent of our stack.

  server = Server()
  server.service('180D')
  handle = server.characteristic('2A37', NOTIFY, b'\\x00\\x40')      the handle of the value; its descriptor is handle + 1
  server.characteristic(SECRET, READ | WRITE, b'secret', needs='encryption')
  server.hook = function(link, pdu)     answers before the server: a PDU, b'' for silence, None leaves it to the server

`needs` is 'encryption' or 'authentication'; the device asks `authorized(link, needs)`. What was written is in `server.written`:
(handle, value, encrypted, opcode)."""
import struct

BROADCAST, READ, WRITE_COMMAND, WRITE, NOTIFY, INDICATE, SIGNED = 1, 2, 4, 8, 0x10, 0x20, 0x40
REQUESTS = {0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20, 0x52, 0xD2}   # and commands


def uuid(value):
    """The octets on the air, from `180D` or the long form."""
    return bytes.fromhex(value.replace('-', ''))[::-1]


class Attribute:
    def __init__(self, kind, value, access, needs):
        self.kind, self.value, self.access, self.needs = uuid(kind), value, access, needs


class Server:
    def __init__(self, mtu=247):
        self.attributes, self.written, self.mtu, self.hook, self.prepared = [], [], mtu, None, []
        self.authorized = lambda link, needs: link.encrypted

    def add(self, kind, value, access='r', needs=None):
        self.attributes.append(Attribute(kind, value, access, needs))
        return len(self.attributes)

    def service(self, kind, primary=True):
        return self.add('2800' if primary else '2801', uuid(kind))

    def include(self, start, end, kind=''):
        return self.add('2802', struct.pack('<HH', start, end) + uuid(kind))

    def characteristic(self, kind, properties, value=b'', needs=None):
        handle = len(self.attributes) + 2
        self.add('2803', struct.pack('<BH', properties, handle) + uuid(kind))
        access = ('r' if properties & READ else '') + ('w' if properties & (WRITE | WRITE_COMMAND | SIGNED) else '')
        self.add(kind, value, access, needs)
        if properties & (NOTIFY | INDICATE):
            self.add('2902', b'\0\0', 'rw', needs if isinstance(needs, str) else None)
        return handle

    def attribute(self, handle):
        return self.attributes[handle - 1] if 0 < handle <= len(self.attributes) else None

    def end_of_group(self, handle):
        for later in range(handle + 1, len(self.attributes) + 1):
            if self.attribute(later).kind in (uuid('2800'), uuid('2801')):
                return later - 1
        return len(self.attributes)

    def range(self, start, end, kind=None):
        return [(h, a) for h, a in enumerate(self.attributes, 1)
                if start <= h <= end and (kind is None or a.kind == kind)]

    def refusal(self, link, handle, access):
        attribute = self.attribute(handle)
        if not attribute:
            return 0x01
        if access not in attribute.access:
            return 0x02 if access == 'r' else 0x03
        if attribute.needs and not self.authorized(link, attribute.needs):
            return 0x05
        return None

    def answer(self, link, pdu, mtu):
        """The PDU that answers, or None."""
        if self.hook:
            answer = self.hook(link, pdu)
            if answer is not None:
                return answer or None
        code = pdu[0]

        def error(reason, handle=0):
            return struct.pack('<BBHB', 0x01, code, handle, reason)

        def listed(opcode, entries):
            if not entries:
                return error(0x0A, struct.unpack_from('<H', pdu, 1)[0])
            size = len(entries[0])
            chosen = b''
            for entry in entries:
                if len(entry) != size or len(chosen) + size > mtu - 2:
                    break
                chosen += entry
            return bytes([opcode, size]) + chosen

        if code == 0x02:
            return struct.pack('<BH', 0x03, self.mtu)
        if code == 0x04:
            found = self.range(*struct.unpack_from('<HH', pdu, 1))
            if not found:
                return error(0x0A, struct.unpack_from('<H', pdu, 1)[0])
            size, answer = len(found[0][1].kind), b''
            for handle, attribute in found:
                if len(attribute.kind) != size or len(answer) + 2 + size > mtu - 2:
                    break
                answer += struct.pack('<H', handle) + attribute.kind
            return bytes([0x05, 1 if size == 2 else 2]) + answer
        if code == 0x06:
            start, end, kind = struct.unpack_from('<HHH', pdu, 1)
            found = [(h, a) for h, a in self.range(start, end, struct.pack('<H', kind)) if a.value == pdu[7:]]
            groups = b''.join(struct.pack('<HH', h, self.end_of_group(h)) for h, _ in found[:(mtu - 1) // 4])
            return b'\x07' + groups if groups else error(0x0A, start)
        if code == 0x08:
            start, end = struct.unpack_from('<HH', pdu, 1)
            found = self.range(start, end, pdu[5:])
            if found and (reason := self.refusal(link, found[0][0], 'r')):
                return error(reason, found[0][0])
            return listed(0x09, [struct.pack('<H', h) + a.value[:min(mtu - 4, 253)] for h, a in found])
        if code == 0x10:
            start, end = struct.unpack_from('<HH', pdu, 1)
            return listed(0x11, [struct.pack('<HH', h, self.end_of_group(h)) + a.value
                                 for h, a in self.range(start, end, pdu[5:])])
        if code in (0x0A, 0x0C):
            handle = struct.unpack_from('<H', pdu, 1)[0]
            if reason := self.refusal(link, handle, 'r'):
                return error(reason, handle)
            offset = struct.unpack_from('<H', pdu, 3)[0] if code == 0x0C else 0
            return bytes([code + 1]) + self.attribute(handle).value[offset:offset + mtu - 1]
        if code in (0x12, 0x52, 0xD2):
            handle, value = struct.unpack_from('<H', pdu, 1)[0], pdu[3:]
            self.written.append((handle, value, link.encrypted, code))
            reason = self.refusal(link, handle, 'w')
            if not reason:
                self.attribute(handle).value = value
            return None if code != 0x12 else error(reason, handle) if reason else b'\x13'
        if code == 0x16:
            handle, offset = struct.unpack_from('<HH', pdu, 1)
            self.written.append((handle, pdu[5:], link.encrypted, code))
            if reason := self.refusal(link, handle, 'w'):
                return error(reason, handle)
            self.prepared.append((handle, offset, pdu[5:]))
            return b'\x17' + pdu[1:]
        if code == 0x18:
            for handle, offset, part in self.prepared if pdu[1] else ():
                self.attribute(handle).value = self.attribute(handle).value[:offset] + part
            self.prepared = []
            return b'\x19'
        return None if code & 0x40 else error(0x06)
