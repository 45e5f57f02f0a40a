"""A connection to a bus that sends and receives octets: messages that no library would make, also as another user."""
import os, select, socket, struct, time

CALL, RETURN, ERROR, SIGNAL = range(1, 5)


class Raw:
    """A client; `user` is the one that the bus takes it for."""

    def __init__(self, path, user=0):
        self.socket = socket.socket(socket.AF_UNIX)
        # Who connects is what counts.
        os.seteuid(user)
        try:
            self.socket.connect(path)
            self.socket.sendall(b'\0AUTH EXTERNAL ' + str(user).encode().hex().encode() + b'\r\n')
        finally:
            os.seteuid(0)
        assert self.socket.recv(512).startswith(b'OK')
        self.socket.sendall(b'BEGIN\r\n')
        self.serial, self.rest = 0, b''
        self.send('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'Hello', destination='org.freedesktop.DBus')

    def send(self, path, interface, member, signature='', body=b'', destination='org.bluez', flags=0, kind=CALL, reply_to=None):
        self.serial += 1
        fields = b''
        for code, type, text in ((1, 'o', path), (2, 's', interface), (3, 's', member), (6, 's', destination), (8, 'g', signature)):
            if not text:
                continue
            fields += bytes(-len(fields) % 8) + bytes([code, 1]) + type.encode() + b'\0'
            octets = text.encode()
            fields += (bytes([len(octets)]) if type == 'g' else struct.pack('<I', len(octets))) + octets + b'\0'
        if reply_to is not None:
            fields += bytes(-len(fields) % 8) + b'\x05\x01u\0' + struct.pack('<I', reply_to)
        header = struct.pack('<BBBBIII', ord('l'), kind, flags, 1, len(body), self.serial, len(fields)) + fields
        self.socket.sendall(header + bytes(-len(header) % 8) + body)
        return self.serial

    def register(self, manager, method, path, at='/org/bluez/hci0'):
        """A call of a manager with a path, and options unless it is that of monitors."""
        body = struct.pack('<I', len(path)) + path.encode() + b'\0'
        if method != 'RegisterMonitor':
            body += bytes(-len(body) % 4) + bytes(4)
            body += bytes(-len(body) % 8)
        return self.send(at, manager, method, 'o' if method == 'RegisterMonitor' else 'oa{sv}', body)

    def drain(self):
        self.socket.setblocking(False)
        try:
            while self.socket.recv(1 << 20):
                pass
        except BlockingIOError:
            pass
        finally:
            self.socket.setblocking(True)

    def messages(self, seconds):
        """The messages that come in this time: kind, serial number, octets."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left)[0]:
                octets = self.socket.recv(1 << 20)
                if not octets:
                    return
                self.rest += octets
            while len(self.rest) >= 16:
                body, serial, fields = struct.unpack_from('<III', self.rest, 4)
                length = 16 + fields + -fields % 8 + body
                if len(self.rest) < length:
                    break
                message, self.rest = self.rest[:length], self.rest[length:]
                yield message[1], serial, message

    def question(self, member, seconds=20):
        """The serial number of a call that comes."""
        for kind, serial, message in self.messages(seconds):
            if kind == CALL and member.encode() in message:
                return serial
        raise AssertionError(f'{member} was not called')

    def answer(self, serial, seconds):
        """The first one that a call of this client gets."""
        for kind, _, message in self.messages(seconds):
            if kind in (RETURN, ERROR) and b'\x05\x01u\0' + struct.pack('<I', serial) in message:
                return kind, message
        raise AssertionError('the call was not answered')

    def answers(self, serial, seconds):
        """What a call of this client got meanwhile."""
        found = []
        for kind, _, message in self.messages(seconds):
            if kind in (RETURN, ERROR) and b'\x05\x01u\0' + struct.pack('<I', serial) in message:
                found.append(message)
        return found
