"""A matter-server as its BLE proxies see it, scripted, and a device that can be commissioned.

  server = Server()                     listens at server.url; `token` is what it wants to see
  session = server.session()            the next proxy, after its Hello
  session.ask('connect', address=…)     the result of a command; Refused has the word of an error
  session.event('disconnected')         the data of the next event of this name
  session.frame()                       the next frame of octets
  session.send(data)                    a message of text (str), of octets (bytes), or a command (dict) whose answer nobody awaits

  device = Device(controller)           advertises, answers the handshake of BTP, and PBKDFParamRequest"""
import base64, itertools, json, queue, struct, threading, time

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from jelling import btp
from jelling.attributes import INDICATE, READ, WRITE, Server as Attributes
from jelling.child import PATIENCE
from jelling.peer import Peer


class Refused(Exception):
    """args[0] is the word."""


class Session:
    def __init__(self, connection):
        self.connection, self.numbers = connection, itertools.count()
        self.answers, self.events, self.frames, self.strays = {}, [], queue.Queue(), []
        self.changed, self.is_over = threading.Condition(), False

    def serve(self):
        try:
            for message in self.connection:
                self.take(message)
        except ConnectionClosed:
            pass
        with self.changed:
            self.is_over = True
            self.changed.notify_all()
        self.frames.put(None)

    def take(self, message):
        if isinstance(message, bytes):
            self.frames.put(message)
            return
        said = json.loads(message)
        with self.changed:
            if 'success' in said:
                assert said['id'] not in self.answers, f'a second answer: {said}'
                self.answers[said['id']] = said
            elif 'event' in said:
                self.events.append((said['event'], said['data']))
            else:
                self.strays.append(said)
            self.changed.notify_all()

    def wait(self, found, what, seconds=PATIENCE):
        end = time.monotonic() + seconds
        with self.changed:
            # What `found` takes away it finds only once.
            while (value := found()) is None and not self.is_over and time.monotonic() < end:
                self.changed.wait(1)
        assert value is not None, f'no {what}; events {self.events[-3:]}, answers {list(self.answers.values())[-3:]}, over: {self.is_over}'
        return value

    def wait_end(self):
        self.wait(lambda: True if self.is_over else None, 'end of the session')

    def send(self, message):
        self.connection.send(json.dumps(message) if isinstance(message, dict) else message)

    def begin(self, command, **arguments):
        number = next(self.numbers)
        self.send({'id': number, 'command': command, 'args': arguments})
        return number

    def answer(self, number):
        said = self.wait(lambda: self.answers.get(number), f'answer to {number}')
        if said['success']:
            return said['result']
        raise Refused(said['error'], said['message'])

    def ask(self, command, **arguments):
        return self.answer(self.begin(command, **arguments))

    def event(self, name, wanted=lambda data: True):
        def find():
            for index, (event, data) in enumerate(self.events):
                if event == name and wanted(data):
                    del self.events[index]
                    return data
        return self.wait(find, f'event {name}')

    def frame(self):
        found = self.frames.get(timeout=PATIENCE)
        assert found is not None, 'the session ended before a frame'
        return found

    def link(self, address):
        """The handle and the ATT_MTU of a link to a device that a scan has found, without a filter for others."""
        self.ask('start_scan', service_uuids=['fff6'], allow_duplicates=False)
        self.event('device_discovered', lambda data: data['address'] == address)
        self.ask('stop_scan')
        found = self.ask('connect', address=address)
        return found['connection_handle'], found['mtu']


class Server:
    def __init__(self, token=None, version=1, path='/ble', security=None):
        self.token, self.version, self.path = token, version, path
        self.sessions, self.statuses, self.hellos = queue.Queue(), [], []
        self.server = serve(self.serve, '127.0.0.1', 0, process_request=self.admit, ping_interval=None, compression=None,
                            ssl=security)
        self.port = self.server.socket.getsockname()[1]
        self.url = f'{"wss" if security else "ws"}://127.0.0.1:{self.port}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def admit(self, connection, request):
        status = 404 if request.path != self.path else 101
        if self.token and request.headers.get('Authorization') != f'Bearer {self.token}':
            status = 401
        self.statuses.append(status)
        return None if status == 101 else connection.respond(status, 'no\n')

    def serve(self, connection):
        try:
            hello = connection.recv(timeout=PATIENCE)
        except ConnectionClosed:
            return
        self.hellos.append(hello)
        if self.version != 1:
            connection.send(json.dumps({'type': 'hello_response', 'version': self.version, 'error': 'unsupported_version',
                                        'message': f'Server supports protocol version {self.version}'}))
            return
        connection.send(json.dumps({'type': 'hello_response', 'version': 1}))
        session = Session(connection)
        self.sessions.put(session)
        session.serve()

    def session(self):
        return self.sessions.get(timeout=PATIENCE)

    def close(self):
        self.server.shutdown()


class Device(Peer):
    """`mtu` is its ATT_MTU. `air` is all that passed, in order: (whether the host sent it, ATT PDU)."""

    ITERATIONS, SALT, RANDOM = 1000, bytes(range(32)), bytes(range(64, 96))

    def __init__(self, controller, address='C0:00:00:00:F6:01', mtu=247, window=6, discriminator=3840, name='Lamp'):
        attributes = Attributes(mtu)
        attributes.service(btp.SERVICE)
        self.c1 = attributes.characteristic(btp.C1, WRITE)
        self.c2 = attributes.characteristic(btp.C2, INDICATE)
        self.c3 = attributes.characteristic(btp.C3, READ, b'\x15\x18')
        super().__init__(controller, address, True, name, server=attributes)
        data = btp.advertised(discriminator, 0xFFF1, 0x8000)
        self.data = b'\x02\x01\x06\x0b\x16\xf6\xff' + data
        self.window, self.side, self.messages = window, None, []
        self.size, self.air, self.tasks = None, [], queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        """What waits for confirmations is done beside the thread that brings them."""
        while True:
            step = self.tasks.get()
            step()

    def say(self, packet):
        self.air.append((False, struct.pack('<BH', 0x1D, self.c2) + packet))
        if self.link.open:
            assert self.indicate(self.c2, packet), 'an indication without a confirmation'

    def take_attribute(self, link, pdu):
        self.air.append((True, pdu))
        super().take_attribute(link, pdu)
        if pdu[0] == 0x12:
            self.tasks.put(lambda: self.written(*struct.unpack_from('<H', pdu, 1), pdu[3:]))

    def written(self, handle, value):
        if handle == self.c1 and value[:1] == bytes([btp.HANDSHAKE]):
            wanted, = struct.unpack_from('<H', value, 6)
            self.size, self.side = min(wanted, self.mtu - 3, 244), None
        elif handle == self.c2 + 1 and value == b'\2\0' and self.size:
            # The response waits until it can be indicated.
            self.side = btp.Side(self.size, 0, 255)
            self.side.due = False
            self.say(btp.response(self.size, self.window))
        elif handle == self.c1 and self.side:
            message = self.side.take(value)
            if message is not None:
                self.messages.append(message)
                answer = btp.parameter_response(message, self.RANDOM, 0x5678, self.ITERATIONS, self.SALT)
                for packet in self.side.send(answer):
                    self.say(packet)


def octets(value):
    return base64.b64encode(value).decode()


class Commissioner:
    """BTP through a session: what a server does on a link."""

    def __init__(self, session, address, window=255):
        self.session = session
        self.handle, self.mtu = session.link(address)
        self.services = [s['uuid'] for s in session.ask('discover_services', connection_handle=self.handle)['services']]
        self.characteristics = {c['uuid']: c['properties'] for c in session.ask(
            'discover_characteristics', connection_handle=self.handle, service_uuid='fff6')['characteristics']}
        self.request = btp.request(min(self.mtu - 3, 244), window)
        session.ask('write_and_subscribe', connection_handle=self.handle, write_uuid=btp.C1, write_value=octets(self.request),
                    write_response=True, subscribe_uuid=btp.C2)
        self.response = self.packet()
        self.side = btp.Side(struct.unpack_from('<H', self.response, 3)[0], 255, 0)

    def packet(self):
        frame = self.session.frame()
        assert frame[0] == 2 and struct.unpack_from('>H', frame, 1)[0] == self.handle, frame.hex()
        return frame[3:]

    def send(self, message):
        """The packets of a message."""
        packets = self.side.send(message)
        for packet in packets:
            self.session.send(struct.pack('>BH', 1, self.handle) + packet)
        return packets

    def receive(self):
        """The next message, and its packets."""
        packets = []
        while True:
            packets.append(self.packet())
            message = self.side.take(packets[-1])
            if message is not None:
                return message, packets
