"""A broker that answers as a case wants, for MQTT 3.1.1 and 5: small, and for what no real broker does on demand.

It understands every packet that a client may send, keeps what is retained, and ends a session at anything else. A case sets
`connack`, `publish` and so on; each is called with the session and the packet, and says what to answer. Packets that were taken are in
`published`, sessions in `sessions`."""
import contextlib, socket, struct, threading

# Properties of a CONNACK (MQTT 5, 3.2.2.3): identifier, format.
PROPERTIES = {'receive_maximum': (0x21, '>H'), 'maximum_qos': (0x24, 'B'), 'retain_available': (0x25, 'B'),
              'maximum_packet_size': (0x27, '>I'), 'topic_alias_maximum': (0x22, '>H'), 'wildcard_available': (0x28, 'B'),
              'subscription_identifiers_available': (0x29, 'B'), 'shared_available': (0x2A, 'B'), 'server_keep_alive': (0x13, '>H'),
              'server_reference': (0x1C, None), 'reason_string': (0x1F, None)}


class Malformed(Exception):
    pass


def encoded_length(number):
    octets = bytearray()
    while True:
        octets.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(octets)


def packet(first, body):
    return bytes([first]) + encoded_length(len(body)) + body


def properties(values):
    octets = b''
    for name, value in values.items():
        identifier, form = PROPERTIES[name]
        if form:
            octets += bytes([identifier]) + struct.pack(form, value)
        else:
            octets += bytes([identifier]) + struct.pack('>H', len(value.encode())) + value.encode()
    return encoded_length(len(octets)) + octets


class Reader:
    """The octets of a packet, in order."""

    def __init__(self, octets):
        self.octets, self.position = octets, 0

    def take(self, count):
        if self.position + count > len(self.octets):
            raise Malformed('the packet is too short')
        self.position += count
        return self.octets[self.position - count:self.position]

    def short(self):
        return struct.unpack('>H', self.take(2))[0]

    def binary(self):
        return self.take(self.short())

    def text(self):
        try:
            return self.binary().decode()
        except UnicodeDecodeError:
            raise Malformed('no UTF-8') from None

    def length(self):
        number = 0
        for shift in (0, 7, 14, 21):
            octet = self.take(1)[0]
            number |= (octet & 127) << shift
            if octet < 128:
                return number
        raise Malformed('a length of five octets')

    def rest(self):
        return self.take(len(self.octets) - self.position)


def read_packet(file):
    """(first octet, body, all octets) of the next packet; None at the end."""
    first = file.read(1)
    if not first:
        return None
    length, head = 0, b''
    for shift in (0, 7, 14, 21):
        head += file.read(1)
        if len(head) * 7 != shift + 7:
            raise Malformed('end in a length')
        length |= (head[-1] & 127) << shift
        if head[-1] < 128:
            break
    else:
        raise Malformed('a length of five octets')
    if length > 1 << 24:
        raise Malformed('a huge packet')
    body = file.read(length)
    return (first[0], body, first + head + body) if len(body) == length else None


class Server:
    """A server on loopback with a thread for each connection, which `serve` handles."""

    def __init__(self, port=0):
        self.server = socket.create_server(('127.0.0.1', port))
        self.port = self.server.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                peer, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def close(self):
        # A server that is closed does not wake a thread that accepts.
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.thread.join(60)


class Publish:
    def __init__(self, topic, payload, qos, retain, dup, number, length):
        self.topic, self.payload, self.qos, self.retain = topic, payload, qos, retain
        self.dup, self.number, self.length = dup, number, length

    def __repr__(self):
        return f'{self.topic} {self.payload[:40]!r} QoS {self.qos}{" retained" if self.retain else ""}'


class Session:
    def __init__(self, broker, peer):
        self.broker, self.peer = broker, peer
        self.version, self.client, self.keep_alive, self.will = 4, '', 0, None
        self.username = self.password = None
        self.unanswered, self.most_unanswered, self.ended = set(), 0, None
        self.lock = threading.Lock()

    def send(self, octets):
        with self.lock, contextlib.suppress(OSError):
            self.peer.sendall(octets)

    # Answers

    def acknowledge(self, publish, reason=0):
        """PUBACK or PUBREC."""
        self.unanswered.discard(publish.number)
        body = struct.pack('>H', publish.number)
        if self.version == 5 and reason:
            body += bytes([reason])
        self.send(packet(0x40 if publish.qos == 1 else 0x50, body))

    def disconnect(self, reason=0, **values):
        """Ends the session, as MQTT 5 does with a reason."""
        if self.version == 5:
            self.send(packet(0xE0, bytes([reason]) + (properties(values) if values else b'')))
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.peer.shutdown(socket.SHUT_RDWR)

    # Packets

    def run(self):
        try:
            file = self.peer.makefile('rb')
            while self.broker.reads.wait() and (packet := read_packet(file)) and self.take(packet[0], Reader(packet[1]), len(packet[2])):
                pass
            self.ended = self.ended or 'closed'
        except (OSError, ValueError) as e:
            self.ended = self.ended or str(e)
        except Malformed as e:
            self.ended = f'malformed: {e}'
            self.broker.malformed.append(str(e))
        self.peer.close()
        if self.will and self.ended != 'DISCONNECT':
            self.broker.keep(self.will)

    def skip_properties(self, reader):
        if self.version == 5:
            reader.take(reader.length())

    def take(self, first, reader, length):
        """Whether the session goes on."""
        kind, flags = first >> 4, first & 15
        if kind == 1:
            return self.take_connect(reader)
        if not self.broker.is_open(self):
            raise Malformed('no CONNECT')
        if kind == 3:
            self.take_publish(flags, reader, length)
        elif kind == 6:
            self.send(packet(0x70, struct.pack('>H', reader.short())))
        elif kind == 8:
            self.take_subscribe(reader)
        elif kind == 10:
            self.send(packet(0xB0, struct.pack('>H', reader.short()) + (b'\0\x11' if self.version == 5 else b'')))
        elif kind == 12:
            self.send(b'\xd0\0')
        elif kind == 14:
            self.ended = 'DISCONNECT'
            return False
        elif kind not in (4, 5, 7):
            raise Malformed(f'packet of type {kind}')
        return True

    def take_connect(self, reader):
        if reader.text() != 'MQTT':
            raise Malformed('another protocol')
        self.version, flags = reader.take(2)
        self.keep_alive = reader.short()
        self.skip_properties(reader)
        self.client = reader.text()
        if flags & 4:
            self.skip_properties(reader)
            topic, payload = reader.text(), reader.binary()
            self.will = Publish(topic, payload, flags >> 3 & 3, bool(flags & 32), False, 0, 0)
        if flags & 128:
            self.username = reader.text()
        if flags & 64:
            self.password = reader.binary()
        self.broker.sessions.append(self)
        answer = self.broker.connack(self)
        if answer is None:
            return False
        reason, values = answer if isinstance(answer, tuple) else (answer, {})
        self.send(packet(0x20, bytes([0, reason]) + (properties(values) if self.version == 5 else b'')))
        return reason == 0

    def take_publish(self, flags, reader, length):
        qos = flags >> 1 & 3
        topic = reader.text()
        number = reader.short() if qos else 0
        self.skip_properties(reader)
        publish = Publish(topic, reader.rest(), qos, bool(flags & 1), bool(flags & 8), number, length)
        if qos == 3 or not topic or any(c in topic for c in '+#\0'):
            raise Malformed(f'PUBLISH {publish}')
        if qos:
            self.unanswered.add(number)
            self.most_unanswered = max(self.most_unanswered, len(self.unanswered))
        reason = self.broker.publish(self, publish)
        if reason is None:
            return
        if reason < 0x80:
            self.broker.published.append(publish)
            self.broker.keep(publish)
        if qos:
            self.acknowledge(publish, reason)

    def take_subscribe(self, reader):
        number = reader.short()
        self.skip_properties(reader)
        reasons = b''
        while reader.position < len(reader.octets):
            topic, options = reader.text(), reader.take(1)[0]
            self.broker.subscribed.append(topic)
            reasons += bytes([self.broker.suback(self, topic, options & 3)])
        self.send(packet(0x90, struct.pack('>H', number) + (b'\0' if self.version == 5 else b'') + reasons))


class ScriptedBroker(Server):
    """A case replaces these three:
    - connack(session): a reason, or (reason, properties by name), or None: the connection is closed.
    - publish(session, publish): a reason; below 0x80 the message is taken; None: it gets no answer.
    - suback(session, topic, qos): a reason.
    While `reads` is cleared it reads nothing, and its connections stay open."""

    def __init__(self, port=0):
        self.connack = lambda session: 0
        self.publish = lambda session, publish: 0
        self.suback = lambda session, topic, qos: qos
        self.reads = threading.Event()
        self.reads.set()
        self.sessions, self.published, self.subscribed, self.malformed, self.retained = [], [], [], [], {}
        super().__init__(port)
        # Little waits in the socket of one that does not read.
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)

    def serve(self, peer):
        Session(self, peer).run()

    def is_open(self, session):
        return any(known is session for known in self.sessions)

    def keep(self, publish):
        if publish.retain and publish.payload:
            self.retained[publish.topic] = publish.payload
        elif publish.retain:
            self.retained.pop(publish.topic, None)

    @property
    def session(self):
        return self.sessions[-1] if self.sessions else None

    def payloads(self, topic):
        return [p.payload.decode() for p in list(self.published) if p.topic == topic]

    def close(self):
        self.reads.set()
        super().close()
        for session in self.sessions:
            session.close()
